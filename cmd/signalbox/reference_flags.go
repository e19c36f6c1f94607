package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config"
)

// settingShelf is what a file given to serve --config may hold.
func settingShelf() shelf {
	return shelf{
		name:    "settings",
		about:   "Settings of `signalbox serve --config FILE`, of the chart below `config`, and the defaults.",
		columns: []string{"name", "default", "meaning"}, spare: []int{2},
		entries: func() ([]entry, error) {
			all, err := config.Settings()
			if err != nil {
				return nil, err
			}
			out := make([]entry, 0, len(all))
			for _, s := range all {
				out = append(out, entry{name: s.Name, row: []string{s.Name, s.Default, s.Meaning}, value: s})
			}
			return out, nil
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
func flagShelf() shelf {
	return shelf{
		name:    "flags",
		about:   "Flags of all commands. Those of kubectl that choose a cluster are taken by each command that reaches one.",
		columns: []string{"name", "default", "commands", "meaning"}, spare: []int{1, 3},
		entries: func() ([]entry, error) {
			all := flagsOf(newRoot(&shell.Shell{Name: "signalbox"}))
			out := make([]entry, 0, len(all))
			for _, f := range all {
				out = append(out, entry{name: f.Name, row: []string{f.Name, f.Default, strings.Join(f.Commands, ", "), f.Meaning}, value: f})
			}
			return out, nil
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
