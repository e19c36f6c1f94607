package terminal

import (
	"regexp"
	"strings"
)

// InCell is a text in a cell of a table.
func InCell(s string) string { return strings.ReplaceAll(InProse(OneLine(s)), "|", `\|`) }

// InProse is a text in one paragraph in which Markdown and HTML mean nothing.
func InProse(s string) string {
	s = strings.NewReplacer("\\", `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "]", `\]`).Replace(strings.TrimSpace(s))
	return handles.ReplaceAllString(s, "$1$2&#8203;$3")
}

// handles are where GitHub and GitLab call somebody (https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls,
// https://docs.gitlab.com/user/markdown/#gitlab-specific-references): an escape does not keep them from it, a space of no
// width does. Digests of images are no such place.
var handles = regexp.MustCompile(`(^|[^0-9A-Za-z_])([@#])([0-9A-Za-z_])`)

// Fenced is a text in a block that ends after it, whatever it holds.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// MarkdownTable is rows of cells as a table of Markdown; the first row is the heading.
func MarkdownTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		cells := make([]string, len(row))
		for c := range row {
			cells[c] = strings.ReplaceAll(InProse(row[c]), "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
	return b.String()
}
