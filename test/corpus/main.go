// Corpus diagnoses every labelled case of a folder in place and prints, for each category, how
// often cause and line were right. It ends with 1 where a goal is missed.
//
//	go run ./test/corpus [-misses] [FOLDER]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/corpus/score"
)

// goals are what the project promises of logs it has not seen before; on the cases at hand
// more is reached, and a test holds that.
var goals = score.Goals{Cause: 92, Line: 92, Mistaken: 2}

func main() {
	misses := flag.Bool("misses", false, "list the cases that are not right")
	flag.Parse()
	ok, err := run(flag.Arg(0), *misses)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(dir string, misses bool) (ok bool, err error) {
	if dir == "" {
		dir = score.Dir(os.Getenv("SIGNALBOX_CORPUS"), "../shared/corpus/dev", "test/corpus/logs")
	}
	if dir == "" {
		fmt.Println("corpus: no labelled cases here (SIGNALBOX_CORPUS names a folder of them); nothing measured")
		return true, nil
	}
	catalog, err := signature.Builtin()
	if err != nil {
		return false, err
	}
	cases, err := score.All(context.Background(), catalog, dir)
	if err != nil {
		return false, err
	}
	if len(cases) == 0 {
		fmt.Printf("corpus: %s holds no labelled case; nothing measured\n", dir)
		return true, nil
	}
	if misses {
		fmt.Println(score.Misses(cases))
	}
	fmt.Print(score.Table(cases))
	_, all := score.Counts(cases)
	missed := goals.Missed(all)
	for _, m := range missed {
		fmt.Fprintln(os.Stderr, "corpus:", m)
	}
	return len(missed) == 0, nil
}
