package faults

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

var shipped = sync.OnceValues(signature.Builtin)

// tally is what one fault, or all of them, came to.
type tally struct{ cases, pod, category, established, wrong, open int }

func (a *tally) add(b tally) {
	a.cases += b.cases
	a.pod += b.pod
	a.category += b.category
	a.established += b.established
	a.wrong += b.wrong
	a.open += b.open
}

// The promises: the pod that failed first is the one named, nearly always; and what is called
// established is never about a wrong pod.
const leastPod = 95.0

// TestFaults puts every fault into gangs. In `go test` a few seeds and the smaller gangs;
// SIGNALBOX_FAULTS=seed tries all of them, as `make faults` does.
func TestFaults(t *testing.T) {
	shapes, seeds := Shapes[:4], []uint64{1}
	if s := os.Getenv("SIGNALBOX_FAULTS"); s != "" {
		first, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("SIGNALBOX_FAULTS: %v", err)
		}
		shapes, seeds = Shapes, nil
		for i := range uint64(3) {
			seeds = append(seeds, 100*first+i)
		}
	}
	catalog, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-50s %6s %9s %9s %12s %7s %7s\n", "fault", "gangs", "pod", "category", "established", "wrongly", "open")
	var all tally
	for _, f := range Faults {
		var n tally
		for _, shape := range shapes {
			for _, seed := range seeds {
				n.add(try(t, catalog, f, shape, seed))
			}
		}
		fmt.Fprintln(&b, n.row(f.Name))
		all.add(n)
	}
	fmt.Fprintln(&b, all.row("all"))
	fmt.Fprintf(&b, "\n%d kinds of faults in gangs of %d to %d ranks: the first pod named in %.1f %%, a wrong pod called established %d times\n",
		len(Faults), shapes[0].Ranks(), shapes[len(shapes)-1].Ranks(), percent(all.pod, all.cases), all.wrong)
	t.Log("\n" + b.String())
	if p := percent(all.pod, all.cases); p < leastPod {
		t.Errorf("the first pod is named in %.1f %% of gangs; at least %.1f wanted", p, leastPod)
	}
	if all.wrong > 0 {
		t.Errorf("a wrong pod was called established %d times; never wanted", all.wrong)
	}
}

func (a tally) row(name string) string {
	return fmt.Sprintf("%-50s %6d %7.0f %% %7.0f %% %12d %7d %7d", name, a.cases, percent(a.pod, a.cases), percent(a.category, a.cases), a.established, a.wrong, a.open)
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

func try(t *testing.T, catalog *signature.Catalog, f Fault, shape Shape, seed uint64) tally {
	t.Helper()
	c, truth := Make(f, shape, seed)
	r := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{})
	n := tally{cases: 1}
	right := named(r, truth)
	if r.Verdict == diagnose.Inconclusive {
		n.open = 1
	}
	if slices.Contains(f.Categories, r.Category) {
		n.category = 1
	}
	established := r.Root != nil && r.Root.Standing == diagnose.Established
	if established {
		n.established = 1
	}
	if right || f.Open && !established {
		n.pod = 1
	}
	if established && !right {
		n.wrong = 1
	}
	if os.Getenv("SIGNALBOX_FAULTS_WHY") != "" && (n.pod == 0 || n.category == 0 || n.wrong > 0) {
		t.Logf("%s, %+v, seed %d: first were %v\n%s", f.Name, shape, seed, keys(truth.Pods), diagnose.Text(r))
	}
	return n
}

// named says that the root is at a pod, or a node, that went first; where no pod did, that it
// names none.
func named(r diagnose.Result, truth Truth) bool {
	if r.Root == nil {
		return false
	}
	s := r.Root.Source
	switch {
	case len(truth.Pods) == 0:
		return s.Pod == ""
	case s.Pod == "":
		return truth.Nodes[s.Node]
	default:
		return truth.Pods[s.Pod]
	}
}

func keys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out[:min(len(out), 4)]
}

func TestSimulationsComeFromTheirSeed(t *testing.T) {
	catalog, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Faults[:6] {
		first, _ := Make(f, Shapes[3], 7)
		again, _ := Make(f, Shapes[3], 7)
		a := diagnose.Text(diagnose.Diagnose(t.Context(), first, catalog, diagnose.Options{}))
		b := diagnose.Text(diagnose.Diagnose(t.Context(), again, catalog, diagnose.Options{}))
		if a != b {
			t.Errorf("%s: one seed, two diagnoses:\n%s\n%s", f.Name, a, b)
		}
	}
}

// apart is how many logs are kept apart where the rest are counted: as many of a thousand as the
// default is of sixty thousand.
const apart = 16

// Of a gang so large that most of its logs are only counted, the answer is that of reading each: with
// its pods, and from logs alone.
func TestALargeGangIsJudgedAsASmallOne(t *testing.T) {
	catalog, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	large := slices.DeleteFunc(slices.Clone(Shapes), func(s Shape) bool { return s.Ranks() < 128 })
	cases, same := 0, 0
	for i, f := range Faults {
		shape := large[i%len(large)]
		for _, pods := range []bool{true, false} {
			c, truth := Make(f, shape, uint64(i))
			if !pods {
				c.Pods, c.Events, c.Nodes = nil, nil, nil
			}
			whole := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{})
			r := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{Apart: apart})
			if r.Root != nil && r.Root.Standing == diagnose.Established && !named(r, truth) {
				t.Errorf("%s, %+v, pods %v: a wrong pod is called established:\n%s", f.Name, shape, pods, diagnose.Text(r))
			}
			if !reflect.DeepEqual(r.Coverage, whole.Coverage) {
				t.Errorf("%s, %+v, pods %v: coverage is %+v, of each log %+v", f.Name, shape, pods, r.Coverage, whole.Coverage)
			}
			if pods == (i%2 == 0) {
				inOrder := diagnose.Text(diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{Apart: 4 * apart}))
				slices.Reverse(c.Logs)
				if again := diagnose.Text(diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{Apart: 4 * apart})); again != inOrder {
					t.Errorf("%s, %+v, pods %v: in another order the logs say\n%s\ninstead of\n%s", f.Name, shape, pods, again, inOrder)
				}
			}
			for _, item := range r.Evidence {
				if item.Text == "" {
					t.Errorf("%s, %+v, pods %v: nothing is known of what %s says", f.Name, shape, pods, item.ID)
				}
			}
			if r.Root != nil && r.Root.Line == "" || len(r.Effects) < len(whole.Effects)/2 {
				t.Errorf("%s, %+v, pods %v: words are lost; of each log\n%s\ncounted\n%s", f.Name, shape, pods, diagnose.Text(whole), diagnose.Text(r))
			}
			cases++
			if inShort(r) == inShort(whole) {
				same++
				continue
			}
			t.Logf("%s, %+v, pods %v: of each log\n%s\ncounted\n%s", f.Name, shape, pods, inShort(whole), inShort(r))
		}
	}
	t.Logf("%d of %d answers are the same", same, cases)
	if percent(same, cases) < leastPod {
		t.Errorf("only %d of %d answers are the same", same, cases)
	}
}

// inShort is what an answer says: what happened, to how many, and in which ways how many followed. Which
// of those that say the same at one time is named is not compared.
func inShort(r diagnose.Result) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Verdict, r.Category)
	_, said, _ := strings.Cut(r.Error, ": ")
	if who, _, ok := strings.Cut(r.Error, ": "); ok && !strings.HasSuffix(who, " more") {
		said = r.Error
	} else if _, more, ok := strings.Cut(who, ") and "); ok {
		said = more + ": " + said
	}
	fmt.Fprintln(&b, said)
	for _, f := range r.Followers {
		fmt.Fprintln(&b, len(f.Places), f.Says, f.First)
	}
	return b.String()
}
