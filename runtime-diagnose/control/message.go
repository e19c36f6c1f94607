package control

import (
	"encoding/json"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// elasticError reads what torch's record decorator writes into TORCHELASTIC_ERROR_FILE, which
// people point at the container's termination message: JSON with the exception and its traceback
// (https://github.com/pytorch/pytorch/blob/v2.8.0/torch/distributed/elastic/multiprocessing/errors/error_handler.py).
// The kubelet cuts messages at 4096 bytes, so the JSON may lack its end.
func elasticError(message string) (text string, ok bool) {
	if !strings.HasPrefix(strings.TrimSpace(message), `{"message":`) {
		return "", false
	}
	var file struct {
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal([]byte(message), &file) != nil {
		_, rest, found := strings.Cut(message, `"py_callstack": "`)
		if !found {
			rest = message
		}
		return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(rest), true
	}
	var said struct {
		Message   string `json:"message"`
		ExtraInfo struct {
			Callstack string `json:"py_callstack"`
		} `json:"extraInfo"`
	}
	if json.Unmarshal(file.Message, &said) != nil {
		var plain string
		if json.Unmarshal(file.Message, &plain) != nil {
			return "", false
		}
		return plain, true
	}
	if strings.TrimSpace(said.ExtraInfo.Callstack) != "" {
		return said.ExtraInfo.Callstack, true
	}
	return said.Message, true
}

// readMessage looks for known failures in a termination message, which may hold the end of a log
// (terminationMessagePolicy: FallbackToLogsOnError) or the file of torch elastic. An exception
// that no signature knows is still one.
func (r *reader) readMessage(message string, item evidence.Item) {
	text, elastic := quoted(message)
	if !elastic {
		r.matchLines(message, item)
		return
	}
	if r.matchLines(text, item) || r.Catalog == nil {
		return
	}
	generic := r.Catalog.ByID("python-exception")
	last := lastLine(text)
	name, _, _ := strings.Cut(last, ":")
	if generic == nil || name == "" || strings.ContainsAny(name, " \t") {
		return
	}
	item.Kind, item.Text = evidence.Log, last
	before := len(r.seen.Sightings)
	r.sight(generic, item, map[string]string{"type": name})
	r.seen.Sightings[before].Platform = false // the program says so about itself
	r.seen.Sightings[before].Raised = true
}
