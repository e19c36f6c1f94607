package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// spawner starts processes from one operating-system thread that lives as long as they do. On Linux the
// kernel kills them when that thread dies (Pdeathsig names the creating thread, not the process), so a
// goroutine that wanders between threads would lose its children to an idle thread's end.
type spawner struct{ requests chan func() }

func newSpawner() *spawner {
	s := &spawner{requests: make(chan func())}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for do := range s.requests {
			do()
		}
	}()
	return s
}

func (s *spawner) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	s.requests <- func() { result <- cmd.Start() }
	return <-result
}

// close ends the thread, and with it whatever it started that still lives.
func (s *spawner) close() { close(s.requests) }

// process is one running program.
type process struct {
	name   string
	log    string
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // how it ended; read after exited
	doomed atomic.Bool
}

// launch is one attempt at starting a program.
type launch struct {
	program string // path; empty: the program of that name in bin/controlplane
	args    []string
	env     []string
	ready   func(context.Context) error // one probe; nil error: ready
	again   bool                        // where it ends before it is ready, it is started again, as in a Deployment
}

// attempts bounds how often a program is started, because somebody else took its port between our choosing
// and its listening, or because it is one that a Deployment would start again.
const attempts = 5

// run starts a program and returns when it is ready. plan is asked anew for every attempt, with fresh ports.
func (c *Cluster) run(ctx context.Context, name string, ports int, plan func(port []int) (launch, error)) error {
	begun := time.Now()
	for attempt := 1; ; attempt++ {
		port, err := FreePorts(ports)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		l, err := plan(port)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		p, err := c.spawn(name, l)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		if err = c.await(ctx, p, l.ready); err == nil {
			c.watch(p)
			c.progressf("%s is ready after %s", name, time.Since(begun).Round(100*time.Millisecond))
			return nil
		}
		again := l.again && p.ended() || strings.Contains(tail(p.log), "address already in use")
		p.kill()
		if attempt == attempts || !again || ctx.Err() != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
	}
}

func (c *Cluster) spawn(name string, l launch) (*process, error) {
	tmp := c.path("tmp", name)
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}
	p := &process{name: name, log: filepath.Join(c.LogDir(), name+".log"), exited: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	program := l.program
	if program == "" {
		program = filepath.Join(c.bin, name)
	}
	p.cmd = exec.Command(program, append(l.args, c.options.ExtraArgs[name]...)...)
	p.cmd.Dir = tmp
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// TMPDIR: controller-runtime looks for webhook certificates below it, and two clusters must not share them.
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + tmp, "TMPDIR=" + tmp}, slices.Concat(l.env, c.options.ExtraEnv[name])...)
	p.cmd.SysProcAttr = ownGroup()

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return nil, context.Canceled
	}
	if err := c.spawner.start(p.cmd); err != nil {
		return nil, err
	}
	c.processes = append(c.processes, p)
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// await polls ready until it succeeds, the process ends, or patience does.
func (c *Cluster) await(ctx context.Context, p *process, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	go func() {
		select {
		case <-p.exited:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := until(ctx, ready)
	if err == nil {
		return nil
	}
	select {
	case <-p.exited:
		return fmt.Errorf("it ended (%s) before it was ready; %s ends with:\n%s", p.cmd.ProcessState, p.log, tail(p.log))
	default:
		return fmt.Errorf("not ready: %w; %s ends with:\n%s", err, p.log, tail(p.log))
	}
}

// watch turns the unasked-for end of a process into the cluster's failure.
func (c *Cluster) watch(p *process) {
	go func() {
		<-p.exited
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.stopping || p.doomed.Load() || c.failure != nil {
			return
		}
		c.failure = fmt.Errorf("%s ended by itself (%s); %s ends with:\n%s", p.name, p.cmd.ProcessState, p.log, tail(p.log))
		c.ended.Do(func() { close(c.done) })
	}()
}

// End ends a program of the cluster for good.
func (c *Cluster) End(name string) error {
	c.mu.Lock()
	var p *process
	if at := slices.IndexFunc(c.processes, func(p *process) bool { return p.name == name && !p.doomed.Load() && !p.ended() }); at >= 0 {
		p = c.processes[at]
	}
	c.mu.Unlock()
	if p == nil {
		return fmt.Errorf("end %s: it does not run", name)
	}
	p.kill()
	return nil
}

// Restart kills a program of the cluster and starts it again after a while, with the arguments and ports that it had.
func (c *Cluster) Restart(ctx context.Context, name string, away time.Duration) error {
	c.mu.Lock()
	at := slices.IndexFunc(c.processes, func(p *process) bool { return p.name == name && !p.doomed.Load() && !p.ended() })
	var p *process
	if at >= 0 {
		p = c.processes[at]
		p.doomed.Store(true)
	}
	c.mu.Unlock()
	if p == nil || name != "kube-apiserver" {
		return fmt.Errorf("restart %s: only kube-apiserver is, while it runs", name)
	}
	p.kill()
	<-p.exited
	select {
	case <-time.After(away):
	case <-ctx.Done():
		return ctx.Err()
	}
	args := p.cmd.Args[1 : len(p.cmd.Args)-len(c.options.ExtraArgs[name])] // which are put behind again
	again, err := c.spawn(name, launch{args: args})
	if err != nil {
		return fmt.Errorf("restart %s: %w", name, err)
	}
	if err := c.await(ctx, again, c.answers(c.server+"/readyz")); err != nil {
		return fmt.Errorf("restart %s: %w", name, err)
	}
	c.watch(again)
	return nil
}

// Pause stops a program of the cluster for a while without ending it, as a machine that hangs does.
func (c *Cluster) Pause(ctx context.Context, name string, away time.Duration) error {
	c.mu.Lock()
	at := slices.IndexFunc(c.processes, func(p *process) bool { return p.name == name && !p.doomed.Load() && !p.ended() })
	var p *process
	if at >= 0 {
		p = c.processes[at]
	}
	c.mu.Unlock()
	if p == nil {
		return fmt.Errorf("pause %s: it does not run", name)
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause %s: %w", name, err)
	}
	select {
	case <-time.After(away):
	case <-ctx.Done():
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("pause %s: %w", name, err)
	}
	return ctx.Err()
}

// ended says that the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill returns when the process is gone. It does not ask nicely: the data is thrown away, and an API server
// that drains its watches takes a minute over it.
func (p *process) kill() {
	p.doomed.Store(true)
	select {
	case <-p.exited: // its number may be somebody else's by now
	default:
		killGroup(p.cmd)
		<-p.exited
	}
}

// until calls probe until it succeeds or ctx ends; the error is the probe's last.
func until(ctx context.Context, probe func(context.Context) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-tick.C:
		}
	}
}

// tail is the end of a log, short enough to stand in an error.
func tail(path string) string {
	const lines, width = 12, 400
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	all = all[max(0, len(all)-lines):]
	for i, line := range all {
		if len(line) > width {
			line = line[:width] + "…"
		}
		all[i] = "    " + line
	}
	return strings.Join(all, "\n")
}
