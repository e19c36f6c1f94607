package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"strconv"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
)

// gitlabFinding is one entry of a code quality report, which GitLab shows in a merge request
// (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
type gitlabFinding struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// renderGitLab writes what was found as a code quality report. A finding keeps its fingerprint when lines above it
// move: it is made of the job, the check and the path in the job, and of the file for what can't be read.
func renderGitLab(to io.Writer, jobs []review.Reviewed, troubles []preflight.Trouble) error {
	out := []gitlabFinding{}
	seen := map[string]int{}
	add := func(check, severity, text, file string, line int, identity string) {
		if seen[identity]++; seen[identity] > 1 { // GitLab shows one of those with the same fingerprint
			identity += "\x00" + strconv.Itoa(seen[identity])
		}
		sum := sha256.Sum256([]byte(identity))
		f := gitlabFinding{Description: text, Check: check, Severity: severity, Fingerprint: hex.EncodeToString(sum[:])}
		f.Location.Path, f.Location.Lines.Begin = filepath.ToSlash(filepath.Clean(file)), max(line, 1)
		out = append(out, f)
	}
	for _, j := range jobs {
		for _, f := range j.Lines() {
			text := j.Job.String() + ": " + terminal.OneLine(f.Line())
			if f.Remedy != "" {
				text = endSentence(text) + " " + f.Remedy
			}
			file, line := j.Landing(j.Line(f))
			add(f.Check, gravity(f.Severity, "info", "minor", "major"), text, file, line, j.From.Source+"\x00"+j.Job.String()+"\x00"+f.Check+"\x00"+string(f.Path))
		}
	}
	for _, t := range troubles {
		file, line := splitPlace(t.Source)
		add("unreadable-input", "blocker", t.Message, file, line, file+"\x00unreadable-input")
	}
	return shell.WriteJSON(to, out)
}
