package main

import (
	"context"
	"fmt"
	"regexp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/tokens"
	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// promised is in how many of a hundred cases the evidence in so many tokens holds the decisive line.
var promised = []struct {
	tokens  int
	percent float64
}{{6000, 98}, {2000, 95}}

// printPrompts writes the built-in question about every case whose label names a decisive line, and says in how
// many the line is in it.
func printPrompts(dirs []string, misses bool) (bool, error) {
	catalog, err := signature.Builtin()
	if err != nil {
		return false, err
	}
	from := originsOf(dirs)
	sum := make([]score.Share, len(promised))
	most := make([]int, len(promised))
	fmt.Printf("%-28s", "the decisive line is shown")
	for _, p := range promised {
		fmt.Printf("  %22s", fmt.Sprintf("in %d tokens", p.tokens))
	}
	fmt.Println()
	for _, o := range from {
		if score.Dir(o.dir) == "" {
			fmt.Printf("%s: not here, not measured\n", o.name)
			continue
		}
		cases, err := score.Folder(context.Background(), catalog, o.dir, score.All, diagnose.Options{})
		if err != nil {
			return false, err
		}
		of := make([]score.Share, len(promised))
		for _, c := range cases {
			for i, p := range promised {
				holds, asked, used, err := shown(c, p.tokens)
				if err != nil {
					return false, err
				}
				if !asked {
					continue
				}
				of[i].Add(holds)
				sum[i].Add(holds)
				most[i] = max(most[i], used)
				if !holds && misses {
					fmt.Printf("%s: not in %d tokens: %s\n", c.ID(), p.tokens, c.Label.KeyLine)
				}
			}
		}
		printShares(o.name, of)
	}
	printShares("all", sum)
	ok := true
	for i, p := range promised {
		fmt.Printf("%d tokens of evidence: %.1f %% promised, %.1f %% reached; the longest had %d\n", p.tokens, p.percent, sum[i].Percent(), most[i])
		ok = ok && sum[i].Percent() >= p.percent && most[i] <= p.tokens
	}
	return ok, nil
}

func printShares(name string, of []score.Share) {
	fmt.Printf("%-28s", name)
	for _, s := range of {
		fmt.Printf("  %22s", fmt.Sprintf("%d of %d, %.1f %%", s.N, s.Of, s.Percent()))
	}
	fmt.Println()
}

// ofFinding are the lines in which a question tells what the rules found.
var ofFinding = regexp.MustCompile(`(?m)^\| (?:error|category|standing|decisive line|waiting|remedy \d+|consequence): .*$`)

// shown says whether the lines of logs, the events and the states in a question hold the decisive line. What the
// finding says of itself, which quotes it, does not count.
func shown(c score.Case, most int) (holds, asked bool, used int, err error) {
	d := prompt.Of(diagnose.Case{}, c.Result, prompt.Room{Bytes: 1 << 20, Tokens: most})
	text := d.LogInfo + d.EventInfo + ofFinding.ReplaceAllString(d.ErrorInfo, "")
	holds, asked, err = c.InPrompt(text)
	return holds, asked, tokens.Count(d.LogInfo + d.EventInfo + d.ErrorInfo), err
}
