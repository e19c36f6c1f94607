// Quality diagnoses labelled cases and prints one board: for every origin how often the cause, the
// decisive line and the first pod are right, failures called healthy, alarms on healthy runs, and in
// how many answers of each standing nothing is wrong. It ends with 1 where a floor is missed.
//
//	go run ./test/quality [-misses] [-part open|held|all] [-only REGEXP] [-without RULE] [FOLDER…]
//	go run ./test/quality -ablate [FOLDER…]
//	go run ./test/quality -fit [-write]
//	go run ./test/quality -prompt [-misses] [FOLDER…]
//
// Without a folder it measures those that are there of floors' origins: the project's own cases are in
// the repository, the others lie beside it. With -fit it fits the points of attribution's features to all
// cases but those that are held out, and says what they are worth on sources that they were not fitted to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// origin is a folder of cases, and what they have to reach.
type origin struct {
	name, dir string
	floors    score.Floors
}

// origins are where cases come from. A floor stands a little below what was reached last; a change
// that falls below one explains itself or is no improvement.
var origins = []origin{
	{"public logs, known", "../shared/corpus/dev", score.Floors{Cause: 98, Line: 94, Mistaken: 2}},
	{"public logs, known since", "../shared/corpus/dev2", score.Floors{Cause: 85, Line: 86, Alarm: 25}},
	{"recorded gangs", "../shared/corpus/gangs", score.Floors{Cause: 96, Line: 92, Pod: 92}},
	{"scenarios", "runtime-diagnose/testdata/scenarios", score.Floors{}},
	{"own gangs", "test/quality/gangs", score.Floors{Cause: 90, Line: 88, Pod: 92}},
	{"own", "test/quality/corpus", score.Floors{Cause: 91, Line: 90, Well: 86, Alarm: 8}},
}

// parts by the word that names them.
var parts = map[string]score.Part{"all": score.All, "open": score.Open, "held": score.Held}

func main() {
	misses := flag.Bool("misses", false, "list the answers that are not right")
	part := flag.String("part", "all", "of the project's own cases: open (two of three), held (the third that nobody looks at while mending) or all")
	only := flag.String("only", "", "only cases whose name matches")
	without := flag.String("without", "", "leave one rule out, to see with -misses which cases it decides")
	ablate := flag.Bool("ablate", false, "say what each feature and each rule is worth, by origin")
	fit := flag.Bool("fit", false, "fit the points of features and print what they are worth")
	write := flag.Bool("write", false, "with -fit: write them to "+weightsFile)
	derive := flag.Bool("precedence", false, "derive from the signatures' examples which of two knows a line more specifically, and write "+precedenceFile)
	asked := flag.Bool("prompt", false, "say in how many cases the question to a model holds the decisive line, in so many tokens")
	flag.Parse()
	if *asked {
		ok, err := printPrompts(flag.Args(), *misses)
		if err != nil {
			fmt.Fprintln(os.Stderr, "quality:", err)
			os.Exit(3)
		}
		if !ok {
			os.Exit(1)
		}
		return
	}
	if *derive {
		if err := derivePrecedence(); err != nil {
			fmt.Fprintln(os.Stderr, "quality:", err)
			os.Exit(3)
		}
		return
	}
	if *fit {
		if err := fitWeights(*write); err != nil {
			fmt.Fprintln(os.Stderr, "quality:", err)
			os.Exit(3)
		}
		return
	}
	if *ablate {
		if err := printAblation(flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "quality:", err)
			os.Exit(3)
		}
		return
	}
	ok, err := run(flag.Args(), *misses, *part, *only, *without)
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

// originsOf are the folders that were named, or all that the project knows.
func originsOf(dirs []string) []origin {
	if len(dirs) == 0 {
		return origins
	}
	var out []origin
	for _, d := range dirs {
		out = append(out, origin{name: filepath.Base(d), dir: d})
	}
	return out
}

func run(dirs []string, misses bool, part, only, without string) (bool, error) {
	which, ok := parts[part]
	if !ok {
		return false, fmt.Errorf("-part is %q; expected open, held or all", part)
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return false, fmt.Errorf("read -only: %w", err)
	}
	var o diagnose.Options
	if h := diagnose.Heuristic(without); without != "" {
		if !slices.Contains(diagnose.Heuristics(), h) {
			return false, fmt.Errorf("-without is %q; expected one of %v", without, diagnose.Heuristics())
		}
		o.Without = []diagnose.Heuristic{h}
	}
	catalog, err := signature.Builtin()
	if err != nil {
		return false, err
	}
	from := originsOf(dirs)
	var rows []score.Row
	var missed []string
	for _, from := range from {
		if score.Dir(from.dir) == "" {
			if len(dirs) > 0 {
				return false, fmt.Errorf("%s: no such folder", from.dir)
			}
			fmt.Printf("%s: not here, not measured\n", from.dir)
			continue
		}
		of := score.All
		if from.name == "own" || len(dirs) > 0 {
			of = which
		}
		cases, err := score.Folder(context.Background(), catalog, from.dir, of, o)
		if err != nil {
			return false, err
		}
		cases = slices.DeleteFunc(cases, func(c score.Case) bool { return !match.MatchString(c.Name) })
		rows = append(rows, byMode(from.name, cases)...)
		if misses {
			fmt.Print(score.Misses(cases))
		}
		for _, m := range from.floors.Below(score.CountOf(cases)) {
			if only == "" {
				missed = append(missed, from.name+": "+m)
			}
		}
	}
	fmt.Print("\n", score.Board(rows), "\n", score.Calibration(rows))
	if len(missed) > 0 {
		fmt.Fprintln(os.Stderr, "quality: "+strings.Join(missed, "\nquality: "))
	}
	return len(missed) == 0, nil
}

// byMode makes a row for each way in which cases are handed over.
func byMode(name string, cases []score.Case) []score.Row {
	var rows []score.Row
	for _, c := range cases {
		row := name
		if c.Mode != "" {
			row += ", " + c.Mode
		}
		at := slices.IndexFunc(rows, func(r score.Row) bool { return r.Name == row })
		if at < 0 {
			at = len(rows)
			rows = append(rows, score.Row{Name: row})
		}
		rows[at].Cases = append(rows[at].Cases, c)
	}
	return rows
}
