package main

import (
	"context"
	"fmt"
	"go/format"
	"os"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// weightsFile is where the points of features stand.
const weightsFile = "runtime-diagnose/attribute/weights.go"

// folds are the cases of each origin that is here but those that are held out, diagnosed under a table.
// Whole says that none of the origins is missing.
func folds(o diagnose.Options) (out []score.Fold, whole bool, err error) {
	catalog, err := signature.Builtin()
	if err != nil {
		return nil, false, err
	}
	whole = true
	for _, from := range origins {
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
	all, whole, err = folds(diagnose.Options{Weights: &start})
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

func printAblation() error {
	all, _, err := folds(diagnose.Options{})
	if err != nil {
		return err
	}
	fmt.Print(score.Ablation(all))
	return nil
}
