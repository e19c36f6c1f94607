package diagnose

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// logsOf are logs of members of which nothing else is known.
func logsOf(t *testing.T, texts ...string) Result {
	t.Helper()
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var c Case
	for i, text := range texts {
		c.AddLog(fmt.Sprintf("rank%d.log", i), []byte(text))
	}
	return Diagnose(t.Context(), c, catalog, Options{})
}

const (
	stepped  = "step 1 loss: 2.5\nstep 2 loss: 2.4\n"
	lostPeer = "Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    loss.backward()\nRuntimeError: [../gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.7]:4123\n"
	waited   = "Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    loss.backward()\nRuntimeError: [../gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 8000ms for recv operation to complete\n"
	allFail  = "Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    boost()\nBoostError: Allreduce failed\n"
	keyError = "Traceback (most recent call last):\n  File \"train.py\", line 5, in load\n    row['y']\nKeyError: 'y'\n"
)

// The member that the others complain of is the one that does not complain.
func TestWhoTheOthersMiss(t *testing.T) {
	cases := map[string]struct {
		logs []string
		want string // signature and file of the cause
	}{
		"one stops without a word":                {[]string{stepped + lostPeer, stepped, stepped + lostPeer}, "member-vanished rank1.log"},
		"of two, the other one":                   {[]string{stepped + lostPeer, stepped}, "member-vanished rank1.log"},
		"one hangs":                               {[]string{stepped + waited, stepped + waited, stepped + "waiting for data\n"}, "member-silent rank2.log"},
		"two are silent: nobody can tell":         {[]string{stepped + lostPeer, stepped, stepped}, "nccl-remote-error rank0.log"},
		"all complain: nobody can tell":           {[]string{stepped + lostPeer, stepped + lostPeer, stepped + lostPeer}, "nccl-remote-error rank0.log"},
		"one names a cause of its own":            {[]string{stepped + lostPeer, stepped + keyError, stepped + lostPeer}, "python-exception rank1.log"},
		"all but one say one thing, and it":       {[]string{stepped + allFail, stepped + allFail, stepped + keyError}, "python-exception rank2.log"},
		"one says one thing, and all others none": {[]string{stepped, stepped, stepped + keyError}, "python-exception rank2.log"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := logsOf(t, tc.logs...)
			got := "nothing"
			if r.Root != nil {
				got = r.Root.Signature + " " + r.Root.Source.File
			}
			if got != tc.want {
				t.Errorf("cause %s, want %s\n%s", got, tc.want, Text(r)+Why(r))
			}
			missing := ""
			if signature, file, _ := strings.Cut(tc.want, " "); strings.HasPrefix(signature, "member-") {
				missing = file
			}
			if got := strings.Join(r.Missing, ","); got != missing {
				t.Errorf("missing %q, want %q", got, missing)
			}
		})
	}
}

// The table shows every candidate with what its points are made of, and adds up.
func TestTheTableBehindAnAnswer(t *testing.T) {
	r := logsOf(t, stepped+lostPeer, stepped+keyError, stepped+lostPeer)
	for i := range r.Candidates {
		sum := 0
		for _, reason := range r.Candidates[i].Because {
			sum += reason.Points
			if len(reason.Cites) == 0 {
				t.Errorf("%s of %s cites nothing", reason.Feature, r.Candidates[i].Item.ID)
			}
		}
		if sum != r.Candidates[i].Score {
			t.Errorf("%s: the points are %d, and the score %d", r.Candidates[i].Item.ID, sum, r.Candidates[i].Score)
		}
	}
	text := Why(r)
	for _, part := range []string{"python-exception) [1]", "general: ", "no  its member went after another one had failed", "supported: one source says so"} {
		if !strings.Contains(text, part) {
			t.Errorf("the table does not say %q:\n%s", part, text)
		}
	}
	for why, want := range map[bool]bool{true: true, false: false} {
		r.Why = why
		data, err := JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		if _, got := out["candidates"]; got != want {
			t.Errorf("asked for: %v; the JSON holds the candidates: %v", why, got)
		}
	}
}

// What is not sure comes with what would decide, three at most; what is sure stands alone.
func TestWhatElseItMayBe(t *testing.T) {
	crash := func(name string) string {
		return stepped + "Traceback (most recent call last):\n  File \"train.py\", line 5, in load\n    f()\n" + name + ": odd\n"
	}
	cases := map[string]struct {
		logs []string
		want int
	}{
		"one cause":             {[]string{stepped + keyError}, 0},
		"two that may be first": {[]string{crash("AlphaError"), crash("BetaError")}, 2},
		"three":                 {[]string{crash("AlphaError"), crash("BetaError"), crash("GammaError")}, 3},
		"four":                  {[]string{crash("AlphaError"), crash("BetaError"), crash("GammaError"), crash("DeltaError")}, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := logsOf(t, tc.logs...)
			if len(r.Hypotheses) != tc.want {
				t.Fatalf("%d hypotheses, want %d\n%s", len(r.Hypotheses), tc.want, Text(r)+Why(r))
			}
			for i, g := range r.Hypotheses {
				if g.Line == "" || g.Decides == "" || g.Command == "" || len(g.Cites) == 0 {
					t.Errorf("hypothesis %d lacks its line, what decides or the command: %+v", i+1, g)
				}
			}
			if tc.want > 1 && !strings.Contains(Text(r), "it may also be") {
				t.Errorf("the text does not say what else it may be:\n%s", Text(r))
			}
		})
	}
}
