package explain

import (
	"context"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
)

// complete asks the model. Where somebody listens and the server streams, what is supported of the answer is told
// sentence by sentence, as it comes: nothing is told that would not be shown in the end.
func (e Explainer) complete(ctx context.Context, client llm.Client, q Question, r diagnose.Result) (llm.Response, error) {
	s, ok := client.(llm.Streamer)
	if e.Heard == nil || !ok {
		return client.Complete(ctx, q.Request)
	}
	var text strings.Builder
	last, told := "", ""
	return s.Stream(ctx, q.Request, func(piece string) {
		text.WriteString(piece)
		part := soFar(text.String())
		if part == last {
			return
		}
		last = part
		a := ground.Parse(part)
		a.Nominate = ground.Nomination{}
		story, _ := judged(a, "", q, r)
		if more, ok := strings.CutPrefix(story.Text, told); ok && more != "" {
			told = story.Text
			e.Heard(more)
		}
	})
}

// soFar is as much of an answer that is still coming as is whole: JSON up to its last whole text, closed; of a text
// its whole lines and sentences.
func soFar(text string) string {
	if start := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(start, "{") {
		return closed(start)
	}
	end := strings.LastIndexAny(text, "\n。")
	if i := strings.LastIndex(text, ". "); i > end {
		end = i
	}
	if end < 0 {
		return ""
	}
	if text[end] >= 0x80 {
		return text[:end+len("。")]
	}
	return text[:end+1]
}

// closed is JSON up to the end of its last whole value, with what is open closed.
func closed(text string) string {
	var open, at []byte // what closes the objects and lists that are open, now and at the last whole value
	end, quoted, escaped, value := 0, false, false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			if quoted = !quoted; !quoted && (value || len(open) > 0 && open[len(open)-1] == ']') {
				end, at = i+1, append(at[:0], open...)
			}
		case quoted:
		case c == ':':
			value = true
		case c == ',':
			value = false
		case c == '{':
			open, value = append(open, '}'), false
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
			end, at = i+1, append(at[:0], open...)
		}
	}
	var b strings.Builder
	b.WriteString(text[:end])
	for i := len(at) - 1; i >= 0; i-- {
		b.WriteByte(at[i])
	}
	return b.String()
}
