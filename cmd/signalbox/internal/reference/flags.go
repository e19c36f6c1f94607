package reference

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/config"
)

// settingShelf is what a file given to serve --config may hold.
func settingShelf() Shelf {
	return Shelf{
		Name:    "settings",
		About:   "Settings of `signalbox serve --config FILE`, of the chart below `config`, and the defaults.",
		Columns: []string{"name", "default", "meaning"}, spare: []int{2},
		Entries: func() ([]Entry, error) {
			all, err := config.Settings()
			return each(all, func(s config.Setting) Entry {
				return Entry{Name: s.Name, Row: []string{s.Name, s.Default, s.Meaning}, value: s}
			}), err
		},
	}
}

// flagText is one flag, with the commands that take it.
type flagText struct {
	Name     string   `json:"name"`
	Default  string   `json:"default,omitempty"`
	Commands []string `json:"commands"`
	Meaning  string   `json:"meaning"`
}

// flagShelf is every flag of every command; those that mean the same stand together.
func flagShelf(commands func() *cobra.Command) Shelf {
	return Shelf{
		Name:    "flags",
		About:   "Flags of all commands. Those of kubectl that choose a cluster are taken by each command that reaches one.",
		Columns: []string{"name", "default", "commands", "meaning"}, spare: []int{1, 3},
		Entries: func() ([]Entry, error) {
			return each(flagsOf(commands()), func(f flagText) Entry {
				return Entry{Name: f.Name, Row: []string{f.Name, f.Default, strings.Join(f.Commands, ", "), f.Meaning}, value: f}
			}), nil
		},
	}
}

func flagsOf(root *cobra.Command) (out []flagText) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			_, usage := pflag.UnquoteUsage(f)
			one := flagText{Name: "--" + f.Name, Default: f.DefValue, Meaning: usage}
			if f.Shorthand != "" {
				one.Name = "-" + f.Shorthand + ", " + one.Name
			}
			command := strings.TrimPrefix(c.CommandPath(), root.Name()+" ")
			at := slices.IndexFunc(out, func(o flagText) bool {
				return o.Name == one.Name && o.Default == one.Default && o.Meaning == one.Meaning
			})
			if at < 0 {
				out = append(out, one)
				at = len(out) - 1
			}
			out[at].Commands = append(out[at].Commands, command)
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	slices.SortStableFunc(out, func(a, b flagText) int {
		return strings.Compare(a.Name[strings.Index(a.Name, "--"):], b.Name[strings.Index(b.Name, "--"):])
	})
	return out
}
