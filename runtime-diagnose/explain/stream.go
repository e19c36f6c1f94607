package explain

import (
	"context"
	"slices"
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
	judge := ground.NewJudge(against(q, r))
	var text strings.Builder
	last, told := "", ""
	return s.Stream(ctx, q.Request, func(piece string) {
		text.WriteString(piece)
		part := soFar(text.String())
		if part == last {
			return
		}
		last = part
		kept := judge.Keep(ground.Parse(swap(part, q.names))).Text()
		if more, ok := strings.CutPrefix(kept, told); ok && more != "" {
			told = kept
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
	end, value := 0, false
	for i := 0; i < len(text); i++ {
		whole := false
		switch text[i] {
		case '"':
			if i = endOfText(text, i); i < 0 {
				i = len(text)
				break
			}
			whole = value || len(open) > 0 && open[len(open)-1] == ']'
		case ':':
			value = true
		case ',':
			value = false
		case '{':
			open, value = append(open, '}'), false
		case '[':
			open = append(open, ']')
		case '}', ']':
			if whole = len(open) > 0; whole {
				open = open[:len(open)-1]
			}
		}
		if whole {
			end, at = i+1, append(at[:0], open...)
		}
	}
	var b strings.Builder
	b.WriteString(text[:end])
	for _, closing := range slices.Backward(at) {
		b.WriteByte(closing)
	}
	return b.String()
}

// endOfText is where the quotation mark stands that ends the text which begins at a place; -1: it has not come.
func endOfText(text string, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return -1
}
