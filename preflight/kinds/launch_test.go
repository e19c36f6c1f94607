package kinds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestLaunch(t *testing.T) {
	words := func(s string) []string { return strings.Fields(s) }
	shell := func(script string) []string { return []string{"bash", "-c", script} }
	cases := map[string]struct {
		command []string
		env     []corev1.EnvVar
		want    string
	}{
		"torchrun with equals":          {words("torchrun --nnodes=4 --nproc_per_node=8 train.py --nnodes=9"), nil, "torchrun procsPerNode=8@command[2] nodes=4"},
		"torchrun with dashes":          {words("torchrun --nnodes 1:4 --nproc-per-node 2 --rdzv-backend c10d --rdzv-endpoint h:29400 train.py"), nil, "torchrun procsPerNode=2@command[4] nodes=1..4 backend=c10d rendezvous=h:29400"},
		"torchrun decides itself":       {words("torchrun --nproc_per_node auto train.py"), nil, "torchrun @command[2]"},
		"torch.distributed.run":         {words("/usr/bin/python3.11 -u -m torch.distributed.run --nproc_per_node=4 -m pkg.train"), nil, "torchrun procsPerNode=4@command[4]"},
		"torch.distributed.launch":      {words("python -m torch.distributed.launch --nproc_per_node=2 --nnodes=4 --node_rank=0 --master_addr=10.0.0.1 train.py"), nil, "torchrun procsPerNode=2@command[3] nodes=4 rendezvous=10.0.0.1"},
		"plain python":                  {words("python train.py --nproc_per_node=8"), nil, "python"},
		"another program":               {words("/opt/start --nproc_per_node=8"), nil, ""},
		"nothing":                       {nil, nil, ""},
		"mpirun":                        {words("mpirun --allow-run-as-root -np 16 -npernode 8 -bind-to none -x PATH --mca btl ^openib python train.py -np 3"), nil, "mpirun procsPerNode=8@command[5] procs=16"},
		"mpirun by mapping":             {words("mpirun -n 32 --map-by ppr:8:node --bind-to core ./app"), nil, "mpirun procsPerNode=8@command[4] procs=32"},
		"words glued together":          {[]string{"mpirun", "-np 32", "-x NCCL_DEBUG=INFO", "python", "train.py"}, nil, `mpirun unread="-np 32" is one argument|"-x NCCL_DEBUG=INFO" is one argument`},
		"horovodrun elastic":            {words("horovodrun -np 2 --min-np 1 --max-np 3 --host-discovery-script /d.sh python train.py"), nil, "horovodrun procs=1..3@command[2]"},
		"deepspeed":                     {words("deepspeed --num_gpus 8 --num_nodes=2 --hostfile /h train.py --deepspeed ds.json"), nil, "deepspeed procsPerNode=8@command[2] nodes=2"},
		"accelerate":                    {words("accelerate launch --multi_gpu --num_processes 16 --num_machines 2 --mixed_precision bf16 train.py"), nil, "accelerate nodes=2 procs=16@command[4]"},
		"colossalai":                    {words("colossalai run --nproc_per_node 4 --hostfile /h --master_port 1 train.py"), nil, "colossalai procsPerNode=4@command[3]"},
		"composer":                      {words("composer -n 8 --world_size 16 train.py"), nil, "composer procsPerNode=8@command[2] procs=16"},
		"flags nobody knows":            {words("torchrun --future 3 --nproc_per_node=8 train.py"), nil, "torchrun procsPerNode=8@command[3] unread=--future"},
		"wrapped":                       {words("/bin/tini -- env A=b nohup torchrun --nproc_per_node=8 train.py"), nil, "torchrun procsPerNode=8@command[6]"},
		"through an entrypoint":         {words("/usr/local/bin/uid_entrypoint.sh mpirun -np 4 python x.py"), nil, "mpirun procs=4@command[3]"},
		"kubelet resolves $(X)":         {words("torchrun --nproc_per_node=$(GPUS) train.py"), []corev1.EnvVar{{Name: "GPUS", Value: "8"}}, "torchrun procsPerNode=8@command[1]"},
		"nobody resolves $X in exec":    {words("torchrun --nproc_per_node=$GPUS train.py"), []corev1.EnvVar{{Name: "GPUS", Value: "8"}}, "torchrun @command[1] unread=--nproc_per_node $GPUS"},
		"the operator's own variable":   {words("torchrun --nnodes=$(WORLD_SIZE) train.py"), []corev1.EnvVar{{Name: "WORLD_SIZE", Value: "8"}}, "torchrun unread=--nnodes $(WORLD_SIZE)"},
		"script":                        {shell("set -ex\ncd /work && torchrun --nproc_per_node=8 \\\n  --nnodes=2 train.py | tee log"), nil, "torchrun procsPerNode=8@command[2] nodes=2"},
		"script with variables":         {shell("N=4\nexport M=2\ntorchrun --nproc_per_node=$N --nnodes ${M} train.py"), nil, "torchrun procsPerNode=4@command[2] nodes=2"},
		"script with the environment":   {shell("exec torchrun --nproc_per_node=$GPUS train.py"), []corev1.EnvVar{{Name: "GPUS", Value: "8"}}, "torchrun procsPerNode=8@command[2]"},
		"script that computes":          {shell("N=$(nvidia-smi -L | wc -l); torchrun --nproc_per_node=$N train.py"), nil, "torchrun @command[2] unread=--nproc_per_node $N"},
		"variable set twice":            {shell("N=4; N=8; torchrun --nproc_per_node=$N train.py"), nil, "torchrun @command[2] unread=--nproc_per_node $N"},
		"commented, quoted, documented": {shell("# torchrun --nproc_per_node=1\necho 'torchrun --nproc_per_node=2'\ncat <<EOF\ntorchrun --nproc_per_node=3 x.py\nEOF\ntorchrun --nproc_per_node=4 train.py"), nil, "torchrun procsPerNode=4@command[2]"},
		"both branches agree":           {shell("if [ $X ]; then torchrun --nproc_per_node=4 a.py; else torchrun --nproc_per_node=4 b.py; fi"), nil, "torchrun procsPerNode=4@command[2]"},
		"branches do not agree":         {shell("if [ $X ]; then torchrun --nproc_per_node=4 a.py; else torchrun --nproc_per_node=8 a.py; fi"), nil, "torchrun unread=more than one launch with different numbers"},
		"python first, then torchrun":   {shell("python prepare.py; torchrun --nproc_per_node=4 a.py"), nil, "torchrun procsPerNode=4@command[2]"},
		"unclosed everything":           {shell("torchrun --nproc_per_node=\"4 $(x `y ${z"), nil, ""},
		"a here-document of commands":   {shell("cat > run.sh <<EOF\ntorchrun --nproc_per_node=2 a.py\nEOF\ntorchrun --nproc_per_node=4 b.py > log 2>&1"), nil, "torchrun procsPerNode=4@command[2]"},
		"a function":                    {shell("run() { exec torchrun --nproc_per_node=4 \"$@\"; }\nrun a.py"), nil, "torchrun procsPerNode=4@command[2]"},
		"a case":                        {shell("case $RANK in 0) torchrun --nproc_per_node=4 a.py;; *) sleep 1;; esac"), nil, "torchrun procsPerNode=4@command[2]"},
		"an escaped line":               {shell("torchrun \\\r\n --nproc_per_node=4 \\\n a.py\r\n"), nil, "torchrun procsPerNode=4@command[2]"},
		"a dollar of the kubelet":       {shell("N=4; torchrun --nproc_per_node=$$N a.py"), nil, "torchrun procsPerNode=4@command[2]"},
		"script in a file":              {words("bash /scripts/run.sh --nproc_per_node=8"), nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &corev1.Container{Command: tc.command, Env: tc.env}
			if diff := cmp.Diff(tc.want, launchText(launchOf(c, func(p job.Path) job.Path { return p }))); diff != "" {
				t.Errorf("launchOf (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaunchFromArgumentsOnly(t *testing.T) {
	c := &corev1.Container{Args: []string{"torchrun", "--nproc_per_node", "8", "train.py"}}
	l := launchOf(c, func(p job.Path) job.Path { return job.Path("at").Join(p) })
	if l.Program != "torchrun" || l.Path != "at.args" || l.ProcsPath != "at.args[2]" {
		t.Errorf("launch is %+v", l)
	}
}

func TestLaunchKeepsWhatItStarts(t *testing.T) {
	cases := map[string]struct {
		command []string
		want    string
	}{
		"flags, then a program":     {strings.Fields("torchrun --nnodes=2 --node_rank $(R) --future --rdzv_endpoint h:1 train.py --tp 4 --lr=$(LR)"), "nnodes node-rank future rdzv-endpoint; train.py --tp 4 --lr=0.1; rank 3 at command[3]; meets at command[6]"},
		"a module":                  {strings.Fields("python -m torch.distributed.run -m pkg.train --tp=4"), "m; pkg.train --tp=4"},
		"plain python":              {strings.Fields("python -u train.py --tp=4"), "; train.py --tp=4"},
		"a server of models":        {strings.Fields("vllm serve meta/llama --tensor-parallel-size 8"), "; meta/llama --tensor-parallel-size 8"},
		"a script":                  {[]string{"bash", "-c", "cd x; torchrun --nnodes=2 train.py --tp=4 | tee log"}, "nnodes; train.py --tp=4"},
		"the same twice":            {[]string{"bash", "-c", "if a; then torchrun --nnodes=2 t.py; else torchrun --nnodes=2 t.py; fi"}, "nnodes; t.py"},
		"two programs":              {[]string{"bash", "-c", "torchrun --nnodes=2 a.py; torchrun --nnodes=2 --standalone b.py"}, "nnodes standalone; "},
		"one word for two":          {[]string{"mpirun", "-np 4", "-wild 3", "./app"}, "np wild; ./app; glued -np 4"},
		"nodes that a shell counts": {[]string{"bash", "-c", "torchrun --nnodes=$N train.py"}, "nnodes; train.py; nodes at command[2]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &corev1.Container{Command: tc.command, Env: []corev1.EnvVar{{Name: "R", Value: "3"}, {Name: "LR", Value: "0.1"}}}
			l := launchOf(c, func(p job.Path) job.Path { return p })
			if diff := cmp.Diff(tc.want, startText(l)); diff != "" {
				t.Errorf("launchOf (-want +got):\n%s", diff)
			}
		})
	}
}

func startText(l job.Launch) string {
	var words []string
	for _, w := range l.Args {
		words = append(words, w.Text)
	}
	out := strings.Join(l.Flags, " ") + "; " + strings.Join(words, " ")
	if l.NodeRank.Path != "" {
		out += fmt.Sprintf("; rank %s at %s", l.NodeRank.Text, l.NodeRank.Path)
	}
	if l.RendezvousPath != "" {
		out += fmt.Sprintf("; meets at %s", l.RendezvousPath)
	}
	if l.NodesPath != "" && !l.Nodes.Said() {
		out += fmt.Sprintf("; nodes at %s", l.NodesPath)
	}
	for _, w := range l.Glued {
		out += "; glued " + w.Text
	}
	return out
}

func launchText(l job.Launch) string {
	parts := []string{l.Program}
	where := string(l.ProcsPath)
	add := func(name string, r job.Range) {
		if r.Said() {
			parts = append(parts, name+"="+spanText(r))
			if where != "" && name != "nodes" {
				parts[len(parts)-1] += "@" + where
				where = ""
			}
		}
	}
	add("procsPerNode", l.ProcsPerNode)
	add("nodes", l.Nodes)
	add("procs", l.Procs)
	if where != "" {
		parts = append(parts, "@"+where)
	}
	for name, s := range map[string]string{"backend=": l.Backend} {
		if s != "" {
			parts = append(parts, name+s)
		}
	}
	if l.Rendezvous != "" {
		parts = append(parts, "rendezvous="+l.Rendezvous)
	}
	if len(l.Unread) > 0 {
		parts = append(parts, "unread="+strings.Join(l.Unread, "|"))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func FuzzLaunch(f *testing.F) {
	f.Add("torchrun --nproc_per_node=8 train.py", true)
	f.Add("cat <<EOF\nEOF\nmpirun -np $((2*4)) \\\n x", true)
	f.Add("mpirun -x", false)
	f.Fuzz(func(t *testing.T, text string, shell bool) {
		c := &corev1.Container{Command: strings.Fields(text)}
		if shell {
			c.Command = []string{"bash", "-c", text}
		}
		l := launchOf(c, func(p job.Path) job.Path { return p })
		for _, r := range []job.Range{l.ProcsPerNode, l.Nodes} {
			if r.Min < 0 || r.Min > r.Max {
				t.Errorf("range %v from %q", r, text)
			}
		}
		if again := launchOf(c, func(p job.Path) job.Path { return p }); fmt.Sprint(l) != fmt.Sprint(again) {
			t.Errorf("%q is read two ways", text)
		}
	})
}
