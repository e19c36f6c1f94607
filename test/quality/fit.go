package main

import (
	"context"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/faults"
	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// weightsFile is where the points of features stand.
const weightsFile = "runtime-diagnose/attribute/weights.go"

// folds are the cases of each origin that is here but those that are held out, diagnosed under a table.
// Whole says that none of the origins is missing.
func folds(from []origin, o diagnose.Options) (out []score.Fold, whole bool, err error) {
	catalog, err := signature.Builtin()
	if err != nil {
		return nil, false, err
	}
	whole = true
	for _, from := range from {
		if score.Dir(from.dir) == "" {
			whole = false
			continue
		}
		of := score.All
		if from.own() {
			of = score.Open
		}
		cases, err := score.Folder(context.Background(), catalog, from.dir, of, o)
		if err != nil {
			return nil, false, err
		}
		fold, err := score.FoldOf(from.name, cases, from.weight())
		if err != nil {
			return nil, false, err
		}
		out = append(out, fold)
	}
	return out, whole, nil
}

// weight is what a case of the origin weighs: situations of clusters that have one right answer are no matter
// of majorities.
func (o origin) weight() int {
	if o.name == "scenarios" {
		return 5 * score.OneCase
	}
	return score.OneCase
}

// own says that an origin is the project's own, of which a third is held out.
func (o origin) own() bool { return o.name == "own" || o.name == "own gangs" }

// fitted is the table that the cases give; whole says that all of them are here.
func fitted() (t attribute.Table, all []score.Fold, whole bool, err error) {
	start := attribute.Start() // which candidates there are must not depend on what was fitted before
	all, whole, err = folds(origins, diagnose.Options{Weights: &start})
	if err != nil {
		return t, nil, false, err
	}
	return score.Fit(all), all, whole, nil
}

func fitWeights(write bool) error {
	t, all, whole, err := fitted()
	if err != nil {
		return err
	}
	fmt.Print(score.CrossValidated(all), "\n")
	for _, f := range attribute.Features() {
		fmt.Printf("%-16s %4d (from %d)  %s\n", f, t[f], attribute.Start()[f], f.Doc())
	}
	if !write {
		return nil
	}
	if !whole {
		return fmt.Errorf("some of the cases are not here: points that are fitted to a part are not written")
	}
	text, err := format.Source([]byte(score.WeightsFile(t)))
	if err != nil {
		return fmt.Errorf("format weights: %w", err)
	}
	if err := os.WriteFile(weightsFile, text, 0o644); err != nil {
		return fmt.Errorf("write weights: %w", err)
	}
	return nil
}

func printAblation(dirs []string) error {
	from := originsOf(dirs)
	all, _, err := folds(from, diagnose.Options{})
	if err != nil {
		return err
	}
	fmt.Print(score.Ablation(all), "\n")
	return ablateHeuristics(from)
}

// ablateHeuristics says by origin what is lost where a heuristic is left out.
func ablateHeuristics(from []origin) error {
	with, names, err := counts(from, diagnose.Options{})
	if err != nil {
		return err
	}
	fmt.Println("| heuristic | " + strings.Join(names, " | ") + " |\n|---|" + strings.Repeat("---|", len(names)))
	for _, h := range diagnose.Heuristics() {
		without, _, err := counts(from, diagnose.Options{Without: []diagnose.Heuristic{h}})
		if err != nil {
			return err
		}
		fmt.Printf("| %s |", h)
		for i := range with {
			fmt.Printf(" %s |", score.Lost(with[i], without[i]))
		}
		fmt.Println()
	}
	return nil
}

// counts are what the cases of each origin that is here come to.
func counts(all []origin, o diagnose.Options) (out []score.Count, names []string, err error) {
	catalog, err := signature.Builtin()
	if err != nil {
		return nil, nil, err
	}
	for _, from := range all {
		if score.Dir(from.dir) == "" {
			continue
		}
		cases, err := score.Folder(context.Background(), catalog, from.dir, score.All, o)
		if err != nil {
			return nil, nil, err
		}
		out, names = append(out, score.CountOf(cases)), append(names, from.name)
	}
	cases, err := simulated(catalog, o)
	if err != nil {
		return nil, nil, err
	}
	return append(out, score.CountOf(cases)), append(names, "simulated gangs"), nil
}

// simulated are the faults of test/faults in gangs of 8 to 16 ranks. They are of the hand that wrote the rules,
// and so only show which rule they need.
func simulated(catalog *signature.Catalog, o diagnose.Options) ([]score.Case, error) {
	var out []score.Case
	for _, f := range faults.Faults {
		for i, shape := range faults.Shapes[:2] {
			story, truth := faults.Make(f, shape, uint64(i))
			label := score.Label{Category: f.Categories[0], AlsoAcceptable: f.Categories, HangNobody: f.Open, FirstPod: slices.Sorted(maps.Keys(truth.Pods))}
			c, err := score.Judged(f.Name, label, diagnose.Diagnose(context.Background(), story, catalog, o))
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}
