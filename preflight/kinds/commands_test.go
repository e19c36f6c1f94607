package kinds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

func TestCommands(t *testing.T) {
	env := []corev1.EnvVar{{Name: "WORKERS", Value: "8"}}
	cases := map[string]struct {
		container corev1.Container
		want      []string // words of each command, and where the last one is written
	}{
		"nothing":                   {corev1.Container{}, nil},
		"a plain command":           {corev1.Container{Command: []string{"python", "train.py"}, Args: []string{"--lr", "1"}}, []string{"python train.py --lr 1 @ args[1]"}},
		"a variable of kubelet":     {corev1.Container{Env: env, Args: []string{"--num_workers=$(WORKERS)", "data.workers=$(WORKERS)", "$WORKERS"}}, []string{"--num_workers=8 data.workers=8 $WORKERS @ args[2]"}},
		"a script":                  {corev1.Container{Env: env, Command: []string{"sh", "-c", "cd /src && python a.py -j $WORKERS; sleep 1"}}, []string{"cd /src @ command[2]", "python a.py -j 8 @ command[2]", "sleep 1 @ command[2]"}},
		"a script of 64 KiB":        {corev1.Container{Command: []string{"sh", "-c", strings.Repeat("\n", 64<<10-len("run")) + "run"}}, []string{"run @ command[2]"}},
		"a byte more is not read":   {corev1.Container{Command: []string{"sh", "-c", strings.Repeat("\n", 64<<10-len("run")+1) + "run"}}, nil},
		"words as a shell has them": {corev1.Container{Command: []string{"sh", "-c", `for i in 1 2; do python -c "print(\"x\")" 'it''s' a\ b \$X --at="$Y/z" >log 2>&1 & done; [[ -f x ]] && export N=3; echo $N $(date)`}}, []string{`python -c print("x") its a b \$X --at=$Y/z @ command[2]`, "echo 3 $(date) @ command[2]"}},
		"256 brackets":              {corev1.Container{Command: []string{"sh", "-c", strings.Repeat("( ", 256) + "run" + strings.Repeat(" )", 256)}}, []string{"run @ command[2]"}},
		"one more is not read":      {corev1.Container{Command: []string{"sh", "-c", strings.Repeat("( ", 257) + "run" + strings.Repeat(" )", 257)}}, nil},
		"a script handed on":        {corev1.Container{Command: []string{"sh", "-c", "cd /src\n/bin/bash -e << 'EOF'\nN=4\nmpirun -np $N \\\n  run && sleep 5\nEOF\n"}}, []string{"cd /src @ command[2]", "mpirun -np 4 run @ command[2]", "sleep 5 @ command[2]"}},
		"text for another program":  {corev1.Container{Command: []string{"sh", "-c", "cat <<EOF >x\nmpirun -np 4\nEOF\nbash run.sh <<EOF\nyes\nEOF\n"}}, []string{"cat @ command[2]", "bash run.sh @ command[2]"}},
		"a script file is closed":   {corev1.Container{Command: []string{"bash", "run.sh"}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range kinds.Commands(&tc.container) {
				got = append(got, strings.Join(c.Words, " ")+" @ "+string(c.At[len(c.At)-1]))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Commands (-want +got):\n%s", diff)
			}
		})
	}
}
