package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// jobNames are names as people give them.
var jobNames = []string{"lm-small", "gru-base", "img-cls", "rerank", "speech-b", "tabular"}

const bridge = "gangbr0"

// network gives every pod an address on one bridge. Without a default route names do not resolve
// but those in the hosts file.
func (g *gang) network() error {
	if err := command("ip", "link", "add", bridge, "type", "bridge"); err == nil {
		if err := errors.Join(command("ip", "addr", "add", "10.244.0.1/16", "dev", bridge), command("ip", "link", "set", bridge, "up")); err != nil {
			return err
		}
	}
	for i, p := range g.pods {
		near, far := fmt.Sprintf("gv%d", i), fmt.Sprintf("gp%d", i)
		_ = command("ip", "netns", "del", p.name)
		_ = command("ip", "link", "del", near)
		for _, args := range [][]string{
			{"netns", "add", p.name},
			{"link", "add", near, "type", "veth", "peer", "name", far},
			{"link", "set", near, "master", bridge, "up"},
			{"link", "set", far, "netns", p.name},
			{"-n", p.name, "link", "set", far, "name", "eth0"},
			{"-n", p.name, "addr", "add", p.ip + "/16", "dev", "eth0"},
			{"-n", p.name, "link", "set", "eth0", "up"},
			{"-n", p.name, "link", "set", "lo", "up"},
		} {
			if err := command("ip", args...); err != nil {
				return err
			}
		}
	}
	return nil
}

func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// memoryGroup is a pod's cgroup: of version 1 if that is mounted, else 2.
func memoryGroup(name string) (at, limit, events string) {
	if _, err := os.Stat("/sys/fs/cgroup/memory/memory.limit_in_bytes"); err == nil {
		return "/sys/fs/cgroup/memory/" + name, "memory.limit_in_bytes", "memory.oom_control"
	}
	return "/sys/fs/cgroup/" + name, "memory.max", "memory.events"
}

func limit(name string, bytes int64) (string, error) {
	at, file, _ := memoryGroup(name)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return "", fmt.Errorf("limit memory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(at, file), []byte(strconv.FormatInt(bytes, 10)), 0o644); err != nil {
		return "", fmt.Errorf("limit memory: %w", err)
	}
	return at, nil
}

var oomCount = regexp.MustCompile(`(?m)^oom_kill ([1-9]\d*)$`)

func oomKilled(name string) bool {
	at, _, events := memoryGroup(name)
	text, err := os.ReadFile(filepath.Join(at, events))
	return err == nil && oomCount.Match(text)
}
