// Gangs runs real gangs of processes on this machine, does something to one of their members, and
// records what a cluster would have: the log of every pod with the kubelet's stamps, the pods
// with their exit codes and times, and a label that says what was done. Every pod has its own network
// address, host name, process IDs, /dev/shm and memory limit.
//
//	go run ./test/gangs [-out DIR] [-only REGEXP]
//
// It needs root, ip, unshare, and Debian's python3-torch, python3-mpi4py, openmpi-bin and
// python3-xgboost, and libopenmpi-dev for the program in C; where something is missing it says so and records what can be recorded.
package main

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed trainer.py mpi.py boost.py tune.py forest.py c/heat.c rsh.sh torchrun
var programs embed.FS

// How long a gang may take, and how long it is watched.
const (
	longest   = 60 * time.Second
	grace     = 3 * time.Second  // between a signal and the kill, where the first process of a pod ignores it
	lookAfter = 12 * time.Second // at a gang that runs
)

func main() {
	out := flag.String("out", "bin/gangs", "`folder` that the recorded gangs are written to")
	only := flag.String("only", "", "only gangs whose name matches")
	flag.Parse()
	if err := run(*out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "gangs:", err)
		os.Exit(1)
	}
}

func run(out, only string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("read -only: %w", err)
	}
	lacks := lacking()
	if why := lacks["all"]; why != "" {
		fmt.Println("gangs:", why+"; nothing was run")
		return nil
	}
	ran := 0
	for i := range faults {
		f := faults[i].withDefaults()
		if !match.MatchString(f.name) {
			continue
		}
		if why := lacks[f.program]; why != "" {
			fmt.Printf("%-36s skipped: %s\n", f.name, why)
			continue
		}
		g, err := newGang(f, i)
		if err != nil {
			return err
		}
		err = errors.Join(g.run(), g.record(filepath.Join(out, f.name)), g.close())
		if err != nil {
			return fmt.Errorf("gang %s: %w", f.name, err)
		}
		fmt.Printf("%-36s %s\n", f.name, g.ends())
		ran++
	}
	fmt.Printf("gangs: %d recorded in %s; go run ./test/quality %s scores them\n", ran, out, out)
	return nil
}

// lacking says what this machine lacks for each program, and for all.
func lacking() map[string]string {
	out := map[string]string{}
	if os.Getuid() != 0 {
		out["all"] = "network namespaces need root"
	}
	for _, tool := range []string{"ip", "unshare", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			out["all"] = tool + " is not installed"
		}
	}
	for module, programs := range map[string][]string{"torch.distributed": {"trainer.py", "tune.py"}, "mpi4py.MPI": {"mpi.py"}, "xgboost.collective": {"boost.py", "forest.py"}} {
		if err := exec.Command(python, "-c", "import "+module).Run(); err != nil {
			for _, program := range programs {
				out[program] = python + " has no " + module
			}
		}
	}
	if err := exec.Command("mpicc", "-E", "-x", "c", "-include", "mpi.h", os.DevNull, "-o", os.DevNull).Run(); err != nil {
		out["heat"] = "mpicc finds no mpi.h"
	}
	if _, err := exec.LookPath("mpirun"); err != nil {
		out["mpi.py"], out["heat"] = "mpirun is not installed", "mpirun is not installed"
	}
	return out
}

// python is Debian's: its packages are the ones that are asked for.
const python = "/usr/bin/python3"

func (f fault) withDefaults() fault {
	if f.program == "" {
		f.program = "trainer.py"
	}
	if f.pods == 0 {
		f.pods = 4
	}
	if f.victim == 0 && f.name != "master-killed" && !f.master {
		f.victim = f.pods - 2
	}
	return f
}

// pod is a member that runs.
type pod struct {
	name, role, ip, node string
	index                int
	cmd                  *exec.Cmd
	log                  strings.Builder // stamped
	ahead                time.Duration   // of its node's clock
	started, ended       time.Time
	marker               string        // a line that says that it works
	works                chan struct{} // closed then
	gone                 chan struct{} // closed when it has ended
	code                 int
	oom                  bool
}

type gang struct {
	fault
	job, dir string
	number   int
	pods     []*pod
	wait     sync.WaitGroup
}

// kind and the prefixes are those of the training operator.
func (g *gang) kind() (kind, container, first string) {
	switch g.program {
	case "mpi.py", "heat":
		return "MPIJob", "mpi", "launcher"
	case "boost.py", "forest.py":
		return "XGBoostJob", "xgboost", "master"
	default:
		return "PyTorchJob", "pytorch", "master"
	}
}

func newGang(f fault, number int) (*gang, error) {
	dir, err := os.MkdirTemp("", "gang")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	g := &gang{fault: f, job: jobNames[number%len(jobNames)], dir: dir, number: number}
	_, _, first := g.kind()
	hosts := []string{"127.0.0.1 localhost"}
	for i := range f.pods {
		p := &pod{role: "worker", index: i - 1, ip: fmt.Sprintf("10.244.%d.%d", i%3+1, 17+i), node: fmt.Sprintf("node-%c%d", 'a'+i%2, i/2+1)}
		p.ahead = f.skew[i]
		if i == 0 {
			p.role, p.index = first, 0
		}
		p.name = fmt.Sprintf("%s-%s-%d", g.job, p.role, p.index)
		g.pods = append(g.pods, p)
		hosts = append(hosts, p.ip+" "+p.name)
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(strings.Join(hosts, "\n")+"\n"), 0o644); err != nil {
		return nil, fmt.Errorf("write hosts: %w", err)
	}
	for _, name := range []string{"trainer.py", "mpi.py", "boost.py", "tune.py", "forest.py", "c/heat.c", "rsh.sh", "torchrun"} {
		text, err := programs.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read program: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o755); err != nil {
			return nil, fmt.Errorf("write program: %w", err)
		}
	}
	if f.program == "heat" {
		if err := command("mpicc", "-O1", "-fstack-protector-strong", "-o", filepath.Join(dir, "heat"), filepath.Join(dir, "heat.c")); err != nil {
			return nil, err
		}
	}
	return g, g.network()
}

// mpi says that a launcher starts the processes of all pods.
func (f fault) mpi() bool { return f.program == "mpi.py" || f.program == "heat" }

// setup runs in the pod's namespaces before its program does.
const setup = `set -e
mount --make-rprivate /
mount -t proc proc /proc
hostname "$POD"
mount --bind "$GANG_DIR/hosts" /etc/hosts
mkdir -p "$GANG_DIR/$POD/ckpt" "$GANG_DIR/$POD/work" /ckpt /ro /workspace
mount -t tmpfs -o size="$SHM" tmpfs /dev/shm
mount -t tmpfs -o size="$DISK" tmpfs /ckpt
mount -t tmpfs -o ro tmpfs /ro
cp "$GANG_DIR"/*.py "$GANG_DIR/rsh.sh" "$GANG_DIR/torchrun" "$GANG_DIR/$POD/work"
mount --bind "$GANG_DIR/$POD/work" /workspace
cd /workspace
exec "$@"
`

// limited enters the pod's memory group; in a network namespace the groups cannot be seen.
const limited = `[ -z "$CGROUP" ] || echo 0 > "$CGROUP/cgroup.procs"; exec "$@"`

func (g *gang) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	if g.running {
		ctx, cancel = context.WithTimeout(ctx, lookAfter)
		defer cancel()
	}
	for i, p := range g.pods {
		if g.absent && i == g.victim || g.mpi() && i > 0 {
			continue // a worker of MPI only waits for the launcher
		}
		if err := g.start(p, i); err != nil {
			return err
		}
	}
	done := make(chan struct{})
	go func() { g.wait.Wait(); close(done) }()
	var works <-chan struct{}
	if g.signal != "" || g.cut {
		works = g.pods[g.victim].works
	}
	for {
		select {
		case <-done:
			return nil
		case <-works:
			if err := g.disturb(); err != nil {
				return err
			}
			works = nil
		case <-ctx.Done():
			for _, p := range g.pods {
				if p.runs() {
					_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it runs when it is looked at
				}
			}
			<-done
			return nil
		}
	}
}

// disturb does to the victim what comes from outside.
func (g *gang) disturb() error {
	p := g.pods[g.victim]
	if g.cut {
		return command("ip", "-n", p.name, "link", "set", "eth0", "down")
	}
	if g.stopAll {
		g.stop()
		return nil
	}
	if err := command("kill", "-s", g.signal, strconv.Itoa(p.cmd.Process.Pid)); err != nil {
		return err
	}
	time.AfterFunc(grace, func() {
		if p.runs() {
			_ = p.cmd.Process.Kill() // as the kubelet does; it may have ended meanwhile
		}
	})
	return nil
}

// stop tells all members that run to stop, as the kubelet does when their pods are deleted.
func (g *gang) stop() {
	for _, p := range g.pods {
		if p.runs() {
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended meanwhile
			time.AfterFunc(grace, func() {
				if p.runs() {
					_ = p.cmd.Process.Kill()
				}
			})
		}
	}
}

func (g *gang) start(p *pod, i int) error {
	args := []string{"-c", limited, "pod", "ip", "netns", "exec", p.name, "sh", "-c", setup, "pod"}
	switch {
	case g.mpi():
		args = append(args, g.mpirun()...)
	case len(g.launch) > 0:
		args = append(append(append(args, python, "-u"), g.launch...), g.pods[0].name+":29400", g.program)
	default:
		args = append(args, python, "-u", g.program)
	}
	p.cmd = exec.Command("sh", args...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS}
	shm, disk := "64m", "64m"
	if g.shm && i == g.victim {
		shm = "1m"
	}
	if g.disk && i == g.victim {
		disk = "256k"
	}
	p.cmd.Env = append([]string{
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "OMP_NUM_THREADS=1", "POD=" + p.name, "GANG_DIR=" + g.dir,
		"SHM=" + shm, "DISK=" + disk, "RANK=" + strconv.Itoa(i), "WORLD_SIZE=" + strconv.Itoa(g.fault.pods), "MASTER_ADDR=" + g.pods[0].name,
		"MASTER_IP=" + g.pods[0].ip, "MASTER_PORT=29500", "GLOO_SOCKET_IFNAME=eth0", "GANG_HOSTS=" + filepath.Join(g.dir, "hosts"),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_btl_vader_single_copy_mechanism=none", "OMPI_MCA_plm_rsh_agent=/workspace/rsh.sh",
		"OMPI_MCA_btl_tcp_if_include=eth0", "OMPI_MCA_oob_tcp_if_include=eth0",
	}, g.env...)
	if i == g.victim {
		p.cmd.Env = append(append(p.cmd.Env, "FAULT="+g.inject), g.ownEnv...)
	}
	p.cmd.Env = append(p.cmd.Env, g.more[i]...)
	if g.mpi() {
		p.cmd.Env = append(p.cmd.Env, "FAULT="+g.inject, "FAULT_RANK="+strconv.Itoa(g.victim))
	}
	if g.memory > 0 && i == g.victim {
		at, err := limit(p.name, g.memory)
		if err != nil {
			return err
		}
		p.cmd.Env = append(p.cmd.Env, "CGROUP="+at)
	}
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	p.started, p.gone, p.works, p.marker = time.Now().UTC(), make(chan struct{}), make(chan struct{}), markers[g.program]
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	g.wait.Add(2)
	go func() {
		defer g.wait.Done()
		p.read(out)
	}()
	go func() {
		defer g.wait.Done()
		err := p.cmd.Wait()
		p.ended, p.code = time.Now().UTC(), codeOf(err)
		if g.memory > 0 && i == g.victim {
			p.oom = oomKilled(p.name)
		}
		close(p.gone)
		if g.stopRest && i == g.victim {
			g.stop()
		}
		_ = in.Close() // the reader is done then
	}()
	return nil
}

// runs says that it was started and has not ended.
func (p *pod) runs() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// mpirun is the launcher's command: a process on every worker.
func (g *gang) mpirun() []string {
	np, hosts := g.fault.pods-1, []string{}
	for _, p := range g.pods[1:] {
		hosts = append(hosts, p.name)
	}
	for _, e := range g.env {
		if n, ok := strings.CutPrefix(e, "NP="); ok {
			np, _ = strconv.Atoi(n)
		}
		if host, ok := strings.CutPrefix(e, "HOST="); ok {
			hosts[0] = host
		}
	}
	args := []string{"mpirun", "-np", strconv.Itoa(np), "-H", strings.Join(hosts, ","), "-x", "FAULT", "-x", "FAULT_RANK"}
	if g.program == "mpi.py" {
		return append(args, "--tag-output", python, "-u", "-m", "mpi4py", filepath.Join(g.dir, "mpi.py"))
	}
	if g.tags {
		args = append(args, "--tag-output")
	}
	return append(args, filepath.Join(g.dir, "heat"))
}

// markers are in the line by which a member of a program shows that it works.
var markers = map[string]string{"trainer.py": "step 10/", "boost.py": "connected as", "tune.py": "start of training", "forest.py": "connected as"}

// read stamps lines as the kubelet does.
func (p *pod) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if p.marker != "" && strings.Contains(line, p.marker) {
			close(p.works)
			p.marker = ""
		}
		if line != "" {
			p.log.WriteString(time.Now().UTC().Add(p.ahead).Format("2006-01-02T15:04:05.000000000Z") + " " + strings.TrimSuffix(line, "\n") + "\n")
		}
		if err != nil {
			return
		}
	}
}

// codeOf is the exit code as a container runtime gives it.
func codeOf(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return exit.ExitCode()
}

// ends says how the members ended.
func (g *gang) ends() string {
	var out []string
	for _, p := range g.pods {
		out = append(out, strconv.Itoa(p.code))
	}
	return "exit codes " + strings.Join(out, " ")
}

func (g *gang) close() error {
	for i, p := range g.pods {
		_ = command("ip", "netns", "del", p.name)
		_ = command("ip", "link", "del", fmt.Sprintf("gv%d", i)) // gone with the namespace, as a rule
		at, _, _ := memoryGroup(p.name)
		_ = os.Remove(at)
	}
	return os.RemoveAll(g.dir)
}
