package reduce

import "github.com/signalbox-dev/signalbox/runtime-diagnose/redact"

// Mask is redact.Line.
func Mask(text string) string { return redact.Line(text) }

// Plain is redact.Text.
func Plain(text string) string { return redact.Text(text) }
