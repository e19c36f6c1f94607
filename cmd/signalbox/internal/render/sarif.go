package render

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// pages is where the reference is on the web: the page of a check is pages + "checks.md#" + its name.
const pages = "https://github.com/signalbox-dev/signalbox/blob/main/docs/reference/"

// The part of SARIF 2.1.0 that forges and editors read
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Columns string        `json:"columnKind"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string     `json:"id"`
		Short   *sarifText `json:"shortDescription,omitempty"`
		Full    *sarifText `json:"fullDescription,omitempty"`
		Help    *sarifText `json:"help,omitempty"`
		HelpURI string     `json:"helpUri,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact sarifArtifact `json:"artifactLocation"`
			Region   sarifRegion   `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"` // one behind the last
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// renderSARIF writes what was found with the rules that found it, and no others.
func renderSARIF(to io.Writer, jobs []review.Reviewed, troubles []preflight.Trouble) error {
	run := sarifRun{Columns: "unicodeCodePoints", Results: []sarifResult{}, Tool: sarifTool{sarifDriver{
		Name: "signalbox", Version: build.Read().Version, InformationURI: "https://signalbox.dev", Rules: []sarifRule{},
	}}}
	for _, j := range jobs {
		for _, f := range j.Lines() {
			text := terminal.OneLine(f.Message)
			if f.Path != "" {
				text = string(f.Path) + ": " + text
			}
			if f.Remedy != "" {
				text = endSentence(text) + " " + f.Remedy
			}
			run.Results = append(run.Results, sarifResult{
				RuleID: f.Check, RuleIndex: run.rule(f.Check, f.Runbook), Level: gravity(f.Severity, "note", "warning", "error"),
				Message:      unlinked(j.Job.String() + ": " + text),
				Locations:    []sarifLocation{location(j.Landing(j.Line(f)))},
				Fingerprints: map[string]string{"signalbox/v1": j.Job.String() + "/" + f.Check + "/" + string(f.Path)},
				Fixes:        fixesOf(j, f),
			})
		}
	}
	for _, t := range troubles {
		file, line := splitPlace(t.Source)
		run.Results = append(run.Results, sarifResult{
			RuleID: "unreadable-input", RuleIndex: run.rule("unreadable-input", ""), Level: "error",
			Message: unlinked(t.Message), Locations: []sarifLocation{location(file, line)},
		})
	}
	return shell.WriteJSON(to, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// rule is the index of a rule, which is added when it is asked for first; runbook is the address of its page
// where the user names one.
func (r *sarifRun) rule(name, runbook string) int {
	rules := &r.Tool.Driver.Rules
	if i := slices.IndexFunc(*rules, func(known sarifRule) bool { return known.ID == name }); i >= 0 {
		return i
	}
	rule := sarifRule{ID: name}
	for _, c := range checks.All() {
		if c.Name == name {
			rule.Short, rule.Full = &sarifText{Text: c.Title}, &sarifText{Text: terminal.OneLine(c.Doc)}
			rule.Help = &sarifText{Text: c.Remedy} // with examples it is on the page
			rule.HelpURI = pages + "checks.md#" + reference.Anchor(name)
		}
	}
	for _, w := range reference.Words() {
		if w.Name == name && w.What == "finding" {
			rule.Short, rule.HelpURI = &sarifText{Text: w.Meaning}, pages+"words.md"
		}
	}
	if _, err := fs.Stat(policies.Library(), strings.ReplaceAll(name, "-", "_")+".rego"); err == nil {
		rule.HelpURI = pages + "policies.md#" + reference.Anchor(name)
	}
	if runbook != "" {
		rule.HelpURI = runbook
	}
	*rules = append(*rules, rule)
	return len(*rules) - 1
}

// fixesOf is the exact remedy of a finding, where a review has proven one.
func fixesOf(j review.Reviewed, f finding.Finding) []sarifFix {
	words := j.CureOf(f)
	if len(words) == 0 {
		return nil
	}
	change, says := sarifChange{Artifact: artifact(j.From.Source)}, []string{}
	for _, w := range words {
		says = append(says, fmt.Sprintf("%s becomes %s", w.Was, w.With))
		change.Replacements = append(change.Replacements, sarifReplacement{
			Deleted:  sarifRegion{StartLine: w.Line, StartColumn: w.Column, EndColumn: w.Column + utf8.RuneCountInString(w.Was)},
			Inserted: sarifText{Text: w.With},
		})
	}
	return []sarifFix{{Description: unlinked(strings.Join(says, "; ")), Changes: []sarifChange{change}}}
}

func artifact(file string) sarifArtifact {
	if shell.IsAddress(file) {
		return sarifArtifact{URI: file}
	}
	return sarifArtifact{URI: (&url.URL{Path: filepath.ToSlash(file)}).String()}
}

func location(file string, line int) (l sarifLocation) {
	l.Physical.Artifact = artifact(file)
	l.Physical.Region.StartLine = max(line, 1)
	return l
}

// unlinked is a message in which nothing is a link: a viewer makes one of "[text](target)" in plain text, too (SARIF 2.1.0,
// 3.11.6, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html), and a manifest's author may have written it.
func unlinked(text string) sarifText { return sarifText{Text: strings.ReplaceAll(text, "](", "] (")} }
