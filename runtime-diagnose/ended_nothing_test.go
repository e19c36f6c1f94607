package diagnose_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What a tracker could not send, a handler logged, a tool warned of, or one item of many lacked, ended nothing.
func TestComplaintsThatByTheirNatureEndNothing(t *testing.T) {
	const (
		epochs  = "1/3 loss: 2.10 acc: 0.31\n2/3 loss: 1.70 acc: 0.44\n3/3 loss: 1.42 acc: 0.52\nResults saved to runs/train5\n"
		tracks  = "wandb: ERROR Error while calling W&B API: run v8/hi11 not found during createRunFiles (<Response [404]>)\n"
		plugin  = "E | 06-21 06:59:42 | jax | plugin configuration error\n"
		caught  = "Traceback (most recent call last):\n  File \"/lib/site-packages/jax/bridge.py\", line 9, in discover\n    module.initialize()\nRuntimeError: Unable to load cuSPARSE. Is it installed?\n"
		svm     = "fitting 60 models\n/lib/python3.8/site-packages/sklearn/svm/_base.py:255: ConvergenceWarning: Solver terminated early (max_iter=1000).  Consider pre-processing your data.\n  % self.max_iter, ConvergenceWarning)\n"
		lasso   = "fitting 60 models\n/lib/python3.8/site-packages/sklearn/linear_model/_cd.py:255: ConvergenceWarning: Objective did not converge. Duality gap: 0.5, tolerance: 0.01\n  model = cd_fast(\n"
		own     = "fitting 60 models\nObjective did not converge. Duality gap: 0.5, tolerance: 0.01\n"
		stopped = "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    run()\nKeyboardInterrupt\n"
		begins  = "2026-03-02 11:30:01,120 - main - INFO - Starting the preparation\n"
		noFile  = "2026-03-02 11:30:02,120 - main - ERROR - Configuration file not found: a.yaml\n"
		goes    = "2026-03-02 11:30:03,120 - main - INFO - Running with b.yaml\n"
	)
	steps := func(n int) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf("step %d loss: %.3f\n", i+1, 2-float64(i)/1000)
		}
		return text
	}
	informs := func(n int) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf("I | 06-21 07:00:0%d | %s | the next part is set up\n", i, []string{"config", "workflow"}[i%2])
		}
		return text
	}
	items := func(n int) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf("Skipping %d - the image is there.\nSkipping %d - the image is there.\nError: Could not find an annotation for %d\n", 1000+i, 2000+i, 3000+i)
		}
		return text
	}
	skips := func(n int) string { return many("Skipping 4%d - the image is there.\n", n) }
	for name, tc := range map[string]struct{ log, want string }{
		"a tracker below the results":                       {steps(8) + epochs + strings.Repeat(tracks, 12), "healthy"},
		"a tracker, and no step":                            {"reading the settings\n" + tracks, "python-exception-user-code"},
		"a program's own words of the same":                 {steps(8) + epochs + strings.TrimPrefix(tracks, "wandb: "), "python-exception-user-code"},
		"what a handler logged, and six records":            {"I | 06-21 06:59:40 | runtime | begins\n" + plugin + caught + informs(6), ""},
		"the same, and five":                                {"I | 06-21 06:59:40 | runtime | begins\n" + plugin + caught + informs(5), "python-exception-user-code"},
		"what nobody handled, and six records":              {"I | 06-21 06:59:40 | runtime | begins\n" + plugin + strings.Replace(caught, "in discover", "in <module>", 1) + informs(6), "python-exception-user-code"},
		"one item of many, and what follows each":           {items(4) + skips(4), ""},
		"one item of three":                                 {items(3) + skips(4), "dataset-error"},
		"one item of many, and three lines":                 {items(4) + skips(3), "dataset-error"},
		"the last item":                                     {items(4), "dataset-error"},
		"one item of many, and what never followed":         {items(4) + skips(4) + "The list is closed here\n", "dataset-error"},
		"a fit that stopped early, as Python warns":         {svm, ""},
		"an objective that did not converge, as it warns":   {lasso, ""},
		"the program's own word that it did not converge":   {own, "no-convergence"},
		"counts of what was done and what failed":           {"reading the list\ntime cost: 108813 ms\n[1] objects downloaded. [0] objects download failed\n", "healthy"},
		"a count of failures":                               {"reading the list\ntime cost: 108813 ms\n[1] objects downloaded. [2] objects download failed\n", "network-dns"},
		"a rank that failed":                                {"reading the list\nall is set up. rank 0 download failed\n", "network-dns"},
		"another launch, the first of which could not read": {begins + noFile + begins + goes + stopped + begins + goes + steps(1), ""},
		"the end of a calculation of Molpro":                {"reading the input\n Variable memory released\n Molpro calculation terminated\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); string(r.Category) != tc.want || tc.want == "" && r.Verdict == diagnose.Inconclusive {
				t.Errorf("category is %q, want %q; %s, %+v", r.Category, tc.want, r.Verdict, r.Root)
			}
		})
	}
}

// Where every reward is no number and the loss is zero, nothing is learned.
func TestRewardsThatAreNoNumbers(t *testing.T) {
	line := func(reward string, loss float64) string {
		return fmt.Sprintf("{'loss': %.1f, 'grad_norm': 0.0, 'num_tokens': 1043.0, 'reward': %s, 'reward_std': %s, 'epoch': 0.01}\n", loss, reward, reward)
	}
	for name, tc := range map[string]struct{ log, want string }{
		"five steps":         {strings.Repeat(line("nan", 0), 5), "nan-loss"},
		"four steps":         {strings.Repeat(line("nan", 0), 4), "healthy"},
		"a loss beside them": {strings.Repeat(line("nan", 0.7), 5), "healthy"},
		"the last is one":    {strings.Repeat(line("nan", 0), 5) + line("0.5", 0), "healthy"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader("***** Running training *****\n"+tc.log)); string(r.Category) != tc.want {
				t.Errorf("category is %q, want %q; %s", r.Category, tc.want, r.Verdict)
			}
		})
	}
}

// A cause that is of a node is told with the pod that the job has on it, if it has one there.
func TestThePodOfACauseThatIsOfANode(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	r := diagnose.Diagnose(t.Context(), scenario(t, "testdata/scenarios/xid-79-on-the-node-of-the-first-pod"), catalog, diagnose.Options{})
	data, err := diagnose.JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Root struct{ Pod, Node string } }
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Root.Pod != "train-worker-1" || got.Root.Node != "gpu-a2" {
		t.Errorf("root is of pod %q, node %q", got.Root.Pod, got.Root.Node)
	}
}
