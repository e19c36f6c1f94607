// Package oneline says what is known of one line of a log by itself. It needs no job, no cluster and none of their
// libraries, so a program that does only this is built in seconds.
package oneline

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Explain writes which signatures know a line, the one that counts first, with their facts, masked, who has to act and
// what there is to do, and why the others give way. What a platform puts before a line (a time, a rank) is no part of it.
func Explain(w io.Writer, catalog *signature.Catalog, line string) error {
	body := line
	if _, err := reduce.Read(strings.NewReader(line), reduce.Options{Suspect: func(string) bool { return true }, Visit: func(l reduce.Line) bool {
		body = l.Body()
		return true
	}}); err != nil {
		return fmt.Errorf("read the line: %w", err)
	}
	var b strings.Builder
	for _, r := range catalog.Explain(body, signature.Log, signature.Event, signature.Status, signature.Node) {
		fmt.Fprintf(&b, "%s (%s): %s\n", r.Signature.ID, r.Signature.Category, r.Signature.Title)
		for _, name := range slices.Sorted(maps.Keys(r.Facts)) {
			fmt.Fprintf(&b, "    %s: %s\n", name, reduce.Mask(r.Facts[name]))
		}
		if r.GivesWay != "" {
			fmt.Fprintf(&b, "    gives way: %s\n", r.GivesWay)
			continue
		}
		fmt.Fprintf(&b, "    who acts: %s; trying again: %s\n", cmp.Or(r.Signature.Domain, signature.Nobody), cmp.Or(string(r.Signature.Retry), "unknown"))
		for _, step := range r.Signature.Steps() {
			fmt.Fprintf(&b, "    → %s\n", step)
		}
	}
	if b.Len() == 0 {
		b.WriteString("no signature knows this line\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write what is known of the line: %w", err)
	}
	return nil
}
