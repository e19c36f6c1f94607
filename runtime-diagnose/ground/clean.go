package ground

import (
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// framing are the marks by which models tell who speaks: ChatML and its kin, Llama's, Gemma's,
// and the tags that agents wrap thoughts and tools in. In data they are an attempt to speak as
// somebody else.
var framing = lazy.MustCompile(`(?i)<\|[^|<>\n]{0,64}\|>|<｜[^｜<>\n]{0,64}｜>|</?(?:system|assistant|user|developer|tool|tool_call|function_call|instructions?|think|thinking|s)>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>`)

// Clean takes from a text what redact.Clean does, and what a model could take for a turn of the
// conversation. Cleaning twice is cleaning once.
func Clean(s string) string {
	for {
		t := cleanOnce(s)
		if t == s {
			return t
		}
		s = t
	}
}

// cleanOnce may join what stood around a removed part into a new mark; Clean repeats it.
func cleanOnce(s string) string {
	return framing.ReplaceAllString(redact.Clean(s), "")
}
