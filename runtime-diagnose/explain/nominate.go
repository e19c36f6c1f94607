package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Read is what marks a finding that a model proposed.
const Read = "read by a model, tested by rules"

// Nominates says whether a model may name the cause: the rules have found none.
func Nominates(r diagnose.Result) bool {
	return r.Verdict == diagnose.Inconclusive && slices.ContainsFunc(r.Nominees, func(n diagnose.Nominee) bool { return n.Why == "" })
}

// Test holds what a model named as the cause against what the rules know. shown are the pieces of evidence that
// it was shown. A refusal says why. Nothing of the result changes; see Apply.
func Test(r diagnose.Result, shown []evidence.Item, n ground.Nomination) (accepted *diagnose.Nominated, refused string) {
	id := evidence.ID(n.Line)
	no := func(format string, args ...any) (*diagnose.Nominated, string) {
		as := ""
		if n.Category != "" {
			as = " as " + oneLine(n.Category)
		}
		return nil, fmt.Sprintf("the nomination of [%s]%s is refused: ", oneLine(n.Line), as) + fmt.Sprintf(format, args...)
	}
	if r.Verdict != diagnose.Inconclusive {
		return no("the rules have found the cause")
	}
	if !slices.ContainsFunc(shown, func(i evidence.Item) bool { return i.ID == id }) {
		return no("no such line was shown")
	}
	at := slices.IndexFunc(r.Nominees, func(m diagnose.Nominee) bool { return m.Item.ID == id })
	if at < 0 {
		if r.Untested.Logs > 0 {
			return no("it is not among the lines that were tested: those of %s were not", words.Count(r.Untested.Logs, "log", "logs"))
		}
		return no("it is not among the lines that no rule knows")
	}
	nominee := r.Nominees[at]
	text := ground.Clean(nominee.Item.Text)
	if quote := squeezed(n.Quote); quote != "" && !strings.Contains(squeezed(text), quote) {
		return no("the line does not say %q", oneLine(n.Quote))
	}
	if n.Category == "" {
		return no("it names none of the categories")
	}
	if _, ok := remedies[n.Category]; !ok {
		if _, listed := signature.CategoryOf(n.Category); listed {
			return no("what the line says cannot show that: the platform says it itself")
		}
		return no("there is no such category")
	}
	switch {
	case ground.Injected(text):
		return no("the line speaks to its reader")
	case nominee.Why != "":
		return no("%s", nominee.Why)
	}
	if why := otherwise(r, n.Category); why != "" {
		return no("%s", why)
	}
	item := nominee.Item
	if item.Text = reported(item); item.Text == "" {
		return no("the line reports nothing: it says what to do")
	}
	out := &diagnose.Nominated{Item: item, Category: n.Category, Standing: diagnose.Hypothesis, Supports: nominee.Supports}
	if len(nominee.Supports) > 1 {
		out.Standing = diagnose.Supported
	}
	return out, ""
}

// reported is what is told of a line that a model named: what it reports, without its time, its level and what it tells its reader to do.
func reported(item evidence.Item) string {
	return ground.Reported(strings.TrimSpace(reduce.Written(ground.Clean(item.Text))))
}

// killed are categories of an end that came from outside the program: SIGKILL and SIGTERM leave no other cause.
var killed = []string{"host-oom-killed", "hang-no-progress", "nccl-timeout", "rendezvous-timeout", "dataloader-worker-killed", "ray-actor-died", "storage-io", "shm-exhausted"}

// otherwise says that how the container ended contradicts a category.
func otherwise(r diagnose.Result, category string) string {
	if r.Root == nil {
		return ""
	}
	code := r.Root.Facts["code"]
	if (code == "137" || code == "143" || strings.Contains(r.Root.Signature, "sigkill") || strings.Contains(r.Root.Signature, "sigterm")) && !slices.Contains(killed, category) {
		return "its container was ended from outside (" + r.Root.Signature + "), not by what its program says"
	}
	return ""
}

// Again tests anew what a model had named before, when the job was diagnosed; nil: it does not stand any more.
func Again(r diagnose.Result, model, line, category string) *diagnose.Nominated {
	if line == "" {
		return nil
	}
	var shown []evidence.Item
	for i := range r.Nominees {
		shown = append(shown, r.Nominees[i].Item)
	}
	n, _ := Test(r, shown, ground.Nomination{Line: line, Category: category})
	if n != nil {
		n.Model = model
	}
	return n
}

// WithStory is a result as it is told: with what its story named as the cause, if the rules let that stand.
func WithStory(r diagnose.Result) diagnose.Result {
	if r.Story == nil {
		return r
	}
	return Apply(r, r.Story.Nominated)
}

// Apply puts an accepted nomination into a result as its error and the first step of its solution. Verdict,
// cause, owner, retry and category stay what the rules said.
func Apply(r diagnose.Result, n *diagnose.Nominated) diagnose.Result {
	if n == nil || r.Verdict != diagnose.Inconclusive {
		return r
	}
	category, _ := signature.CategoryOf(n.Category)
	by := strings.TrimRight(r.Error, ".") + "."
	r.Error = fmt.Sprintf("%s: %q: %s, it seems (%s: %s).", n.Item.Source.Who(), quoted(n.Item.Text), category.Title, Read, n.Standing)
	if n.Item.Kind == evidence.Event && n.Item.Source.Who() == "" {
		r.Error = strings.TrimPrefix(r.Error, ": ")
	}
	said := "Nothing contradicts the line that the model named [" + string(n.Item.ID) + "]: it is open, and its member failed first."
	if len(n.Supports) > 0 {
		said += " For it: " + strings.Join(n.Supports, "; ") + "."
	}
	r.Analysis = strings.TrimSpace(strings.Join([]string{"By the rules alone: " + by, r.Analysis, said}, " "))
	if r.Plain != "" {
		r.Plain = strings.TrimSpace(strings.Join([]string{"By the rules alone: " + by, r.Plain, said}, " "))
	}
	r.Solution = append([]string{remedies[n.Category] + " (" + Read + ")"}, r.Solution...)
	if !slices.ContainsFunc(r.Evidence, func(i evidence.Item) bool { return i.ID == n.Item.ID }) {
		r.Evidence = append(slices.Clone(r.Evidence), n.Item)
	}
	return r
}

// longestQuoted is how much of a line stands in the error.
const longestQuoted = 240

func quoted(text string) string {
	text = reduce.Written(text)
	text = squeezed(ground.NoAddress(redact.Text(ground.Clean(text))))
	if len(text) > longestQuoted {
		text = strings.ToValidUTF8(text[:longestQuoted], "") + "…"
	}
	return text
}

// oneLine is what a model wrote as it may stand in an Event: short, masked, without orders.
func oneLine(text string) string {
	const most = 80
	if text = squeezed(redact.Text(ground.Clean(text))); ground.Injected(text) || ground.NoAddress(text) != text {
		return "…"
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// categories are those that a line may be put in, for the prompt.
func categories() string {
	var b strings.Builder
	for _, c := range signature.Categories() {
		if _, ok := remedies[c.Slug]; ok {
			b.WriteString(c.Slug + ": " + c.Title + "\n")
		}
	}
	return b.String()
}

// remedies is what to do first about a failure of a category of which no more is known than a line. What only
// the platform can show (scheduling, quotas, images, evictions) is not here: it says so itself.
var remedies = map[string]string{
	"gpu-oom":                          "Lower what one process keeps on its device: batch, sequence or model shard.",
	"host-oom-killed":                  "Compare the memory limit with the peak use; raise it, or load less at a time.",
	"shm-exhausted":                    "Mount an emptyDir with medium Memory at /dev/shm, no larger than the memory limit.",
	"dataloader-worker-killed":         "Run with fewer data-loader workers, and watch memory and /dev/shm.",
	"gpu-hardware-xid":                 "Have the node's GPU checked before another job lands on it.",
	"ecc-error":                        "Have the node's GPU checked before another job lands on it.",
	"nvlink-fault":                     "Have the node's NVLink and fabric manager checked.",
	"infiniband-fault":                 "Have the adapter and its link on that node checked.",
	"cuda-driver-mismatch":             "Compare the driver of the node with the CUDA version of the image.",
	"cuda-arch-no-kernel-image":        "Use a build that has code for this GPU.",
	"no-gpu-visible":                   "Compare the devices that the pod asks for with what its container sees.",
	"illegal-memory-access":            "Run the failing step once with CUDA_LAUNCH_BLOCKING=1 to see which kernel it is.",
	"device-side-assert":               "Check labels and indices against the sizes of the model's layers.",
	"nccl-timeout":                     "Find the rank that did not enter the collective, and read its log.",
	"nccl-init-network":                "Check that the pods reach each other on the interface that NCCL chose.",
	"nccl-version-mismatch":            "Use one image for all members.",
	"rendezvous-timeout":               "Check that all members started and reach the address of the rendezvous.",
	"wrong-world-size":                 "Compare the number of processes with what the program is configured for.",
	"port-in-use":                      "Choose another port, or let the launcher choose.",
	"network-dns":                      "Check that the name exists and that the pod may reach it.",
	"launcher-ssh-failure":             "Check that the launcher reaches its workers by ssh.",
	"mpi-failure":                      "Read what MPI says above the line; compare the versions of the members.",
	"hang-no-progress":                 "Look at the stacks of the processes while they stand.",
	"ray-actor-died":                   "Read the log of the actor that died.",
	"nan-loss":                         "Look at the step before the first value that is not finite: data, learning rate, precision.",
	"missing-module":                   "Install the package in the image.",
	"import-version-conflict":          "Pin the packages to versions that fit each other.",
	"argument-or-config-error":         "Correct the option or the value that the line names.",
	"deepspeed-config":                 "Correct DeepSpeed's configuration where the line names it.",
	"shape-mismatch":                   "Compare the shapes that the line names with the configuration of the model.",
	"dtype-mismatch":                   "Compare the types that the line names.",
	"checkpoint-corrupt-or-mismatch":   "Start from an older checkpoint, or compare it with the model.",
	"dataset-error":                    "Check that the data that the line names is there, whole, and of the form that the program reads.",
	"file-not-found":                   "Check that the path is there inside the container.",
	"permission-denied":                "Check what the job's account may do with what the line names.",
	"python-syntax-error":              "Correct the program where the line points.",
	"python-exception-user-code":       "Read the program where the line comes from.",
	"tokenizer-or-model-download-auth": "Check the access of the job to the hub that the line names.",
	"segfault":                         "Set PYTHONFAULTHANDLER=1 and read the stack.",
	"disk-full":                        "Free space on the volume that the line names, or write elsewhere.",
	"storage-io":                       "Have the volume that the line names checked.",
}
