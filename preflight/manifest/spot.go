package manifest

import (
	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Spot is where a word stands in a file: line and column from 1, in characters, and the word as it is read.
type Spot struct {
	Line, Column int
	Word         string
}

// Spots are where the last step of a path is written and where its value is, if that is one word. Neither is
// known of an object that was made of another form, or of what an alias stands for.
func (d Document) Spots(path job.Path) (key, value Spot) {
	if d.OpenPAI() {
		return key, value
	}
	node := d.node
	var name, held *yaml.Node
	for _, step := range steps(path) {
		if name, held = take(node, step); held == nil {
			return Spot{}, Spot{}
		}
		node = held
	}
	if name != nil && name.Kind == yaml.ScalarNode {
		key = Spot{name.Line + d.base, name.Column, name.Value}
	}
	if held != nil && held.Kind == yaml.ScalarNode {
		value = Spot{held.Line + d.base, held.Column, held.Value}
	}
	return key, value
}
