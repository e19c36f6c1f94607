package names

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var choiceMisspelt = &check.Check{
	Name:     "choice-misspelt",
	Title:    "a word is missing, or is not spelt as the API spells it",
	Remedy:   "Write the word as the API spells it.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Eclipses: []string{"pod-value-refused"},
	Run: func(p *check.Pass) {
		judge := func(at job.Path, known []string, ofKind bool) {
			word, ok := facts.Text(p.Job, at)
			if !ok || word == "" || slices.Contains(known, word) {
				return
			}
			meant := check.DidYouMean(word, known)
			if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) }); i >= 0 {
				meant = check.DidYouMean(known[i], known[i:i+1])
			}
			if meant.Name() == "" && !ofKind {
				return // pod-value-refused says so
			}
			if meant.Name() == "" { // a word of a newer release, or of none
				p.Report(finding.Finding{
					Path: at, Severity: finding.Warning, Remedy: "Write one of them, unless the cluster has a release that knows the word.",
					Message: facts.LastStep(at) + " is " + facts.Quoted(word) + "; the releases that are known take " + `"` + strings.Join(known, `", "`) + `"`,
				})
				return
			}
			p.Reportf(at, "%s is %q; it takes %s%s", facts.LastStep(at), word, `"`+strings.Join(known, `", "`)+`"`, meant)
		}
		one := func(at job.Path, c kinds.Choice) {
			holder, there := p.Job.Field(at.Parent()).(map[string]any)
			if word := holder[facts.LastStep(at)]; c.Required && there && (word == nil || word == "") {
				p.Reportf(at.Parent(), "%s has no %s; it takes %s", facts.LastStep(at.Parent()), facts.LastStep(at), `"`+strings.Join(c.Words, `", "`)+`"`)
				return
			}
			judge(at, c.Words, true)
		}
		choose := func(c kinds.Choice, at job.Path) {
			if c.Each == "" {
				one(at, c)
				return
			}
			for element := range p.Job.Elements(at) {
				one(element.Join(c.Each), c)
			}
		}
		for _, c := range p.Operator.Choices {
			choose(c, c.At)
		}
		for r := range p.Job.EachRole() {
			for _, c := range p.Operator.RoleChoices {
				choose(c, r.Path.Join(c.At))
			}
			judge(r.Pod.At("dnsPolicy"), []string{"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}, false)
			for k := range r.Pod.Spec.Volumes {
				judge(r.Pod.At(job.Path("volumes").Index(k).Child("emptyDir", "medium")), []string{"Memory", "HugePages"}, false)
			}
		}
		for r, c := range p.Job.EachContainer() {
			judge(r.Pod.At(c.Rel.Child("imagePullPolicy")), []string{"Always", "IfNotPresent", "Never"}, false)
		}
	},
}
