package counts

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var batchSizesContradict = &check.Check{
	Name:     "batch-sizes-contradict",
	Title:    "the batch sizes for DeepSpeed do not multiply to each other",
	Remedy:   "Leave train_batch_size out: DeepSpeed works it out from the other two.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Replicas.Max == 0 {
			return
		}
		configs := deepSpeedConfigs(p, r)
		if len(configs) == 0 {
			return
		}
		world, known := deepSpeedWorld(p.Job, r)
		for _, c := range configs {
			whole, micro, steps := c.sizes["train_batch_size"], c.sizes["train_micro_batch_size_per_gpu"], c.sizes["gradient_accumulation_steps"]
			switch {
			case whole == 0:
			case micro > 0 && steps > 0 && known && whole != saturate.Mul(saturate.Mul(micro, steps), world):
				c.report(p, fmt.Sprintf("train_batch_size is %d, but %d per GPU × %d accumulated × %s = %s", whole, micro, steps, facts.Count(world, "process"), saturate.Text(saturate.Mul(saturate.Mul(micro, steps), world))))
			case micro > 0 && steps > 0 && whole%saturate.Mul(micro, steps) != 0:
				c.report(p, fmt.Sprintf("train_batch_size %d cannot be divided by %d per GPU × %d accumulated = %d", whole, micro, steps, saturate.Mul(micro, steps)))
			case micro > 0 && steps == 0 && known && whole%saturate.Mul(micro, world) != 0:
				c.report(p, fmt.Sprintf("train_batch_size %d cannot be divided by %d per GPU × %s = %s", whole, micro, facts.Count(world, "process"), saturate.Text(saturate.Mul(micro, world))))
			case micro == 0 && known && whole%saturate.Mul(max(steps, 1), world) != 0:
				c.report(p, fmt.Sprintf("train_batch_size %d cannot be divided by %d accumulated × %s = %s", whole, max(steps, 1), facts.Count(world, "process"), saturate.Text(saturate.Mul(max(steps, 1), world))))
			}
		}
	}),
}

// deepSpeedConfig is a configuration for DeepSpeed as far as it is about batches; sizes that
// are not there or not numbers are 0.
type deepSpeedConfig struct {
	sizes map[string]int64
	at    job.Path
	where string // the file of a ConfigMap; empty: in the job itself
}

func (c deepSpeedConfig) report(p *check.Pass, message string) {
	if c.where != "" {
		message = c.where + ": " + message
	}
	p.Reportf(c.at, "%s", message)
}

// deepSpeedWorld is how many processes the role trains with, where its launcher is one that
// DeepSpeed counts by.
func deepSpeedWorld(j *job.Job, r *job.Role) (int64, bool) {
	if l := &r.Launch; l.Program == "deepspeed" && l.ProcsPerNode.Fixed() && !l.Has("hostfile", "include", "i", "exclude", "e") {
		nodes := int64(1)
		if l.Nodes.Said() || l.NodesPath != "" {
			nodes = int64(l.Nodes.Min)
		}
		world := saturate.Mul(nodes, int64(l.ProcsPerNode.Min))
		return world, world > 0 && !saturate.Full(world)
	}
	return facts.WorldOf(j, r)
}

// deepSpeedConfigs are the configurations that the role's container is started with: JSON in
// its words and variables, and files of ConfigMaps of which the words name the path.
func deepSpeedConfigs(p *check.Pass, r *job.Role) (out []deepSpeedConfig) {
	c, i := r.Trainer()
	if c == nil {
		return nil
	}
	rel := job.Path("containers").Index(i)
	read := func(value string, at job.Path) {
		for _, sizes := range batchSizesIn(value) {
			out = append(out, deepSpeedConfig{sizes: sizes, at: at})
		}
	}
	facts.EachWord(c, func(word string, at job.Path) { read(word, r.Pod.At(rel.Join(at))) })
	for k, e := range c.Env {
		read(e.Value, r.Pod.At(rel.Child("env").Index(k)))
	}
	return append(out, deepSpeedFiles(p, r, c)...)
}

// deepSpeedFiles are configurations in ConfigMaps that the view has and the container mounts.
func deepSpeedFiles(p *check.Pass, r *job.Role, c *corev1.Container) (out []deepSpeedConfig) {
	if !facts.Mentions(c, ".json") {
		return nil
	}
	for _, cmd := range facts.CommandsOf(p.Job, r) {
		for k, w := range cmd.Words {
			if _, value, joined := strings.Cut(w, "="); joined {
				w = value
			}
			if !strings.HasSuffix(w, ".json") || !strings.HasPrefix(w, "/") {
				continue
			}
			v, _ := facts.MountOf(&r.Pod.Spec, c, path.Clean(w))
			if v == nil || v.ConfigMap == nil || len(v.ConfigMap.Items) > 0 {
				continue
			}
			o, there := p.Cluster.Lookup(facts.ConfigMapKind, p.Job.Ref.Namespace, v.ConfigMap.Name)
			if there != job.Present || o == nil {
				continue
			}
			data, _ := o.Object["data"].(map[string]any)
			file, _ := data[path.Base(w)].(string)
			for _, sizes := range batchSizesIn(file) {
				out = append(out, deepSpeedConfig{sizes: sizes, at: cmd.At[k], where: w + " of ConfigMap " + v.ConfigMap.Name})
			}
		}
	}
	return out
}

// batchSizesIn finds JSON objects with a train_batch_size in a text: itself, or a part of a
// script. Sizes that are no numbers ("auto") are left out.
func batchSizesIn(value string) (out []map[string]int64) {
	const key = `"train_batch_size"`
	value = value[:min(len(value), mostConfig)]
	for from := 0; len(out) < mostConfigs; {
		i := strings.Index(value[from:], key)
		if i < 0 {
			return out
		}
		i += from
		from = i + len(key)
		start := strings.LastIndexByte(value[:i], '{')
		for tries := 0; start >= 0 && tries < mostObjects; tries++ {
			var raw map[string]json.RawMessage
			if json.NewDecoder(strings.NewReader(value[start:])).Decode(&raw) == nil && raw["train_batch_size"] != nil {
				out = append(out, wholeSizes(raw))
				break
			}
			start = strings.LastIndexByte(value[:start], '{')
		}
		if start < 0 {
			return out // the key belongs to no object that can be read, nor will the next
		}
	}
	return out
}

// A review has no time for texts that are made to be slow: how much of one is looked at, in
// bytes, for how many configurations, and how many objects before the key are tried for each.
const (
	mostConfig  = 64 << 10
	mostConfigs = 4
	mostObjects = 32
)

func wholeSizes(raw map[string]json.RawMessage) map[string]int64 {
	sizes := map[string]int64{}
	for _, name := range []string{"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"} {
		var n int64
		if json.Unmarshal(raw[name], &n) == nil && n > 0 && n < 1<<31 {
			sizes[name] = n
		} else if raw[name] != nil {
			return nil // "auto": the library fills it in
		}
	}
	return sizes
}
