package control

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// paiEnd closes what paiMark opens.
const paiEnd = "[PAI_RUNTIME_ERROR_END]"

// paiError reads the lines of the log that OpenPAI's runtime has put into the termination message, its
// errorLogs: what the user's program said, else what the platform's did (github.com/microsoft/pai
// src/kube-runtime/src/runtime.go, runtime-exit-spec).
func paiError(message string) (text string, ok bool) {
	_, rest, found := strings.Cut(message, paiMark)
	body, _, closed := strings.Cut(rest, paiEnd)
	var said struct {
		ErrorLogs struct{ User, Platform string } `json:"errorLogs"`
	}
	if !found || !closed || yaml.Unmarshal([]byte(body), &said) != nil {
		return "", false
	}
	for _, text := range []string{said.ErrorLogs.User, said.ErrorLogs.Platform} {
		if strings.TrimSpace(text) != "" {
			return text, true
		}
	}
	return "", false
}

// quoted is what a termination message quotes of a program: an exception of torch elastic, or a line that
// OpenPAI's runtime found.
func quoted(message string) (text string, ok bool) {
	if text, ok = paiError(message); ok {
		return text, true
	}
	return elasticError(message)
}
