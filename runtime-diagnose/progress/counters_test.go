package progress_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// Each rank of a gang says that it gives up: their numbers grow, and nothing is done by it.
func TestFailuresThatAreCountedAreNoProgress(t *testing.T) {
	var c progress.Counters
	for i := range 30 {
		line := fmt.Sprintf("[E ProcessGroupNCCL.cpp:607] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711) ran for 600%d milliseconds", i, 100+i)
		if c.See(i+1, line); i > 9 {
			c.Failure(line)
		}
	}
	if c.Advances(30, 0) || c.Steps() != 0 {
		t.Errorf("advances = %t by %d steps, want none", c.Advances(30, 0), c.Steps())
	}
}

// A number that grows in lines of one shape is progress, whatever the words are; lists are none.
func TestCountersFindProgressInUnknownWords(t *testing.T) {
	lines := func(n int, form func(i int) string) []string {
		var out []string
		for i := range n {
			out = append(out, form(i))
		}
		return out
	}
	cases := map[string]struct {
		log  []string
		want bool
	}{
		"compact metrics":     {lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:%.2f", 100+i*10, 3-float64(i)/10) }), true},
		"epoch and step":      {lines(9, func(i int) string { return fmt.Sprintf("e:%d s:%d trl:2.1", i/3, i%3) }), true},
		"returns of episodes": {lines(8, func(i int) string { return fmt.Sprintf("episode %d return %d", i, 200-i) }), true},
		"tasks behind a date": {lines(8, func(i int) string {
			return fmt.Sprintf("26/03/01 10:00:%02d INFO Finished task %d.0 (TID %d) in 300 ms", i, i, i)
		}), true},
		"results of evaluations": {lines(9, func(i int) string { return fmt.Sprintf("dev: precision: %d.5%%; recall: 3.0%%", i) }), true},
		"the same result again":  {lines(9, func(int) string { return "dev: precision: 3.5%; recall: 3.0%" }), false},
		"a share with a fraction": {lines(9, func(i int) string {
			return fmt.Sprintf("Alpha: 0.0%d  Progress: %d.25%%  Words/sec: 21%d.1k", 25-i, 3*i, i)
		}), true},
		"the time of a simulation": {lines(9, func(i int) string { return fmt.Sprintf("t = 0.%d | divB = 0.01 | E = 0.3", 100+i) }), true},
		"ranges behind a number that stays": {lines(9, func(i int) string {
			return fmt.Sprintf("LOG (training.cc:299) objective for minibatches %d-%d is -4.3", 10*i, 10*i+9)
		}), true},
		"the third number counts":                     {lines(9, func(i int) string { return fmt.Sprintf("worker 3 of 4 did %d files", i) }), true},
		"what is behind two that stay comes and goes": {lines(20, func(i int) string { return fmt.Sprintf("queue 2 of 3 holds %d", i%2) }), false},
		"the speed of what has no number":             {lines(9, func(i int) string { return fmt.Sprintf("Speed: 2.6ms preprocess, %d.3ms inference", 10+i%3) }), true},
		"requests that are answered": {lines(9, func(i int) string {
			return fmt.Sprintf(`10.0.0.9 - - [18/Apr/2026 14:22:%02d] "POST /v1/score HTTP/1.1" 200 -`, i)
		}), true},
		"requests that are refused": {lines(30, func(i int) string {
			return fmt.Sprintf(`10.0.0.9 - - [18/Apr/2026 14:22:%02d] "POST /v1/score HTTP/1.1" 503 -`, i)
		}), false},
		"rows of a table":                             {lines(30, func(i int) string { return fmt.Sprintf("%d.jpg cat 0.%d", (i*7919)%500, 100+i) }), true},
		"rows of an array":                            {lines(30, func(i int) string { return fmt.Sprintf(" [%d.5e+01  8.%de-01]", i, 10+i) }), true},
		"rows that are a few":                         {lines(12, func(i int) string { return fmt.Sprintf("%d.jpg cat 0.%d", (i*7919)%500, 100+i) }), false},
		"rows that begin alike":                       {lines(30, func(i int) string { return fmt.Sprintf("waited %d.5", 40-i) }), false},
		"too few":                                     {lines(6, func(i int) string { return fmt.Sprintf("s:%d trl:2", i) }), false},
		"a number that comes and goes":                {lines(20, func(i int) string { return fmt.Sprintf("queue %d of 3 waiting", i%2) }), false},
		"ranks with nothing beside":                   {lines(16, func(i int) string { return fmt.Sprintf("rank %d starts", i) }), false},
		"addresses of frames":                         {lines(16, func(i int) string { return fmt.Sprintf("frame #%d: abort + 0x%x", i, i*64) }), false},
		"only times":                                  {lines(16, func(i int) string { return fmt.Sprintf("10:00:%02d waiting 3", i) }), false},
		"seconds since the epoch":                     {lines(16, func(i int) string { return fmt.Sprintf("t=17720000%02d waiting for peer 3", i) }), false},
		"counting that ended long ago":                {append(lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:2", i) }), strings.Split(strings.Repeat("waiting\n", 60), "\n")...), false},
		"nothing":                                     {nil, false},
		"the largest numbers that count":              {lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:2", 99_999_992+i) }), true},
		"larger by one":                               {lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:2", 100_000_000+i) }), false},
		"as many shapes as are followed":              {append(pairs(63), lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:2", i) })...), true},
		"one shape more":                              {append(pairs(64), lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:2", i) })...), false},
		"as many shapes as results are looked for in": {append(shapes(63), lines(9, func(i int) string { return fmt.Sprintf("precision: %d.5%%", i) })...), true},
		"one shape of results more":                   {append(shapes(64), lines(9, func(i int) string { return fmt.Sprintf("precision: %d.5%%", i) })...), false},
		"more shapes than are followed":               {lines(400, func(i int) string { return fmt.Sprintf("%s %d 1", strings.Repeat(string(rune('a'+i%26)), i%40+1), i) }), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var c progress.Counters
			for i, line := range tc.log {
				c.See(i+1, line)
			}
			if got := c.Advances(len(tc.log), 0); got != tc.want {
				t.Errorf("advances = %t, want %t", got, tc.want)
			}
		})
	}
}

// What is done with one thing after the other moves; who takes part, and how long something is waited for, is said of one
// after the other as well.
func TestWhatIsDoneWithOneThingAfterTheOtherMoves(t *testing.T) {
	each := func(n int, form string) (log []string) {
		for i := range n {
			log = append(log, fmt.Sprintf(form, 100*(i+1)))
		}
		return log
	}
	named := func(form, names string) (log []string) {
		for name := range strings.FieldsSeq(names) {
			log = append(log, fmt.Sprintf(form, name))
		}
		return log
	}
	for name, tc := range map[string]struct {
		log  []string
		want bool
	}{
		"batches":                {each(12, " Simulating batch %d"), true},
		"one less":               {each(11, " Simulating batch %d"), false},
		"strains by their names": {named("now clustering %s", "C57BL DBA BALB SWR NZO CAST PWK WSB AKR FVB SJL NOD"), true},
		"the same thing again":   {strings.Split(strings.Repeat("clustering C57BL\n", 30), "\n"), false},
		"columns of numbers":     {each(12, "0.25 %d"), true},
		"graphs, then silence":   {append(each(13, "Graph Number: %d"), strings.Split(strings.Repeat("\n", 60), "\n")...), false},
		"seconds of a wait":      {each(40, "still waiting (%d)"), false},
		"members that have come": {each(40, "rank %d has come"), false},
		"reports of a transport": {named("now the transport reports %s", "a b c d e f g h i j k l"), true},
		"a gang that forms":      {named("NCCL INFO Channel via %s", "a b c d e f g h i j k l m n o p q r s t u v w x y z"), false},
		"more shapes than are followed, and then another": {append(append([]string(nil), shapes(64)...), each(20, "ite %d")...), false},
		"as many as are followed":                         {append(append([]string(nil), shapes(63)...), each(20, "ite %d")...), true},
	} {
		t.Run(name, func(t *testing.T) {
			var c progress.Counters
			for i, line := range tc.log {
				c.See(i+1, line)
			}
			if got := c.Moves(len(tc.log)); got != tc.want {
				t.Errorf("moves = %t, want %t", got, tc.want)
			}
		})
	}
}

// shapes are lines of so many shapes that have one number each.
func shapes(n int) (log []string) {
	for i := range n {
		log = append(log, strings.Repeat(string(rune('a'+i%26)), 2+i/26)+" 7")
	}
	return log
}

// pairs are lines of so many shapes that have two numbers each.
func pairs(n int) (log []string) {
	for _, line := range shapes(n) {
		log = append(log, line+" of 9")
	}
	return log
}

// A number that was one for a while and is none to the end of the log has gone wrong, whatever it is called.
func TestCountersFindNumbersThatAreNoneAnyMore(t *testing.T) {
	lines := func(sound, none int, word string, after ...string) []string {
		var out []string
		for i := range sound {
			out = append(out, fmt.Sprintf("upd %d cost %d.5", i, 9-i%9))
		}
		for i := range none {
			out = append(out, fmt.Sprintf("upd %d cost %s", sound+i, word))
		}
		return append(out, after...)
	}
	cases := map[string]struct {
		log  []string
		want int // line
	}{
		"infinite":                 {lines(10, 10, "inf"), 11},
		"no number":                {lines(10, 10, "-nan"), 11},
		"one too few":              {lines(10, 9, "inf"), 0},
		"from the beginning":       {lines(0, 30, "inf"), 0},
		"numbers again":            {append(lines(10, 12, "nan"), "upd 22 cost 4.5"), 0},
		"a word that begins so":    {lines(10, 12, "info"), 0},
		"long before the end":      {lines(10, 10, "inf", make([]string, 40)...), 0},
		"all of them were numbers": {lines(30, 0, ""), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var c progress.Counters
			for i, line := range tc.log {
				c.See(i+1, line)
			}
			if got, ok := c.Spoilt(len(tc.log)); got.Line != tc.want || ok != (tc.want > 0) {
				t.Errorf("spoilt from line %d on (%v), want %d", got.Line, ok, tc.want)
			}
		})
	}
}

// Where no other counters are listened for any more, the last step lines show the same of a loss by a name that no rule knows.
func TestStepLinesShowNumbersThatAreNoneAnyMore(t *testing.T) {
	lines := func(heard, sound, none int, form, word string, after ...string) (heardOf, all []string) {
		for i := range sound {
			all = append(all, fmt.Sprintf("iter %d "+form, i, fmt.Sprintf("%d.5", 9-i%9)))
		}
		for i := range none {
			all = append(all, fmt.Sprintf("iter %d "+form, sound+i, word))
		}
		return all[:heard], append(all, after...)
	}
	for name, tc := range map[string]struct {
		heard, sound, none int
		form, word         string
		after              []string
		want               int
	}{
		"no number":                           {16, 20, 12, "L=%s", "nan", nil, 21},
		"more than are kept":                  {16, 20, 90, "L=%s", "nan", nil, 79},
		"spoilt before that":                  {16, 8, 12, "L=%s", "inf", nil, 9},
		"one too few":                         {16, 20, 9, "L=%s", "nan", nil, 0},
		"few that were numbers":               {16, 5, 90, "L=%s", "nan", nil, 0},
		"a loss by its name, and another one": {16, 20, 12, "loss=0.25 val=%s", "nan", nil, 0},
		"numbers again":                       {16, 20, 12, "L=%s", "nan", []string{"iter 32 L=4.5"}, 0},
		"long before the end":                 {16, 20, 12, "L=%s", "nan", make([]string, 40), 0},
		"numbers":                             {16, 40, 0, "L=%s", "", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			heard, all := lines(tc.heard, tc.sound, tc.none, tc.form, tc.word, tc.after...)
			var c progress.Counters
			for i, line := range heard {
				c.See(i+1, line)
			}
			var steps progress.Tracker
			steps.Learn(all[0])
			for i, line := range all {
				steps.See(i+1, line, time.Time{})
			}
			if got, ok := c.SpoiltSteps(steps.Series().Recent, len(all)); ok != (tc.want > 0) || ok && got.Line != tc.want {
				t.Errorf("spoilt from line %d on (%v), want %d", got.Line, ok, tc.want)
			}
		})
	}
}
