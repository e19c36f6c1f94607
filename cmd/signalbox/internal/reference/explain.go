package reference

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/oneline"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// NewExplain is the command explain.
func NewExplain(sh *shell.Shell, all []Shelf) *cobra.Command {
	output, line := shell.OneOf("text", "md", "json"), ""
	var folders []string
	c := &cobra.Command{
		Use:   "explain NAME | --line LINE",
		Short: "explain a name that an output shows: a check, a cause, a verdict, an annotation …",
		Example: fmt.Sprintf(`  %[1]s explain shm-missing
  %[1]s explain fragmented
  %[1]s explain 137
  %[1]s explain --line "RuntimeError: CUDA error: an illegal memory access was encountered"`, sh.Name),
		Args: func(c *cobra.Command, args []string) error {
			if line != "" && len(args) == 0 {
				return nil
			}
			if len(folders) > 0 && line == "" {
				return shell.Usagef("--signatures is for --line; expected %s --line LINE --signatures FOLDER", c.CommandPath())
			}
			if line != "" || len(args) == 0 {
				return shell.Usagef("%s takes one name; see %s list", c.CommandPath(), sh.Name)
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return Names(all), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if line != "" {
				return shell.Own(explainLine(sh, line, folders))
			}
			return shell.Own(explain(sh, all, strings.Join(args, " "), output.Value))
		},
	}
	c.Flags().StringVar(&line, "line", "", "say which signatures know a `line` of a log, and which of them counts; - is standard input")
	c.Flags().StringArrayVar(&folders, "signatures", nil, "`folder` of signatures of your own beside the built-in ones, for --line; repeatable")
	shell.AddChoice(c, output, "output", "o", "output format")
	return c
}

// xidCalled is a fault of NVIDIA's driver by its number (https://docs.nvidia.com/deploy/xid-errors/).
var xidCalled = regexp.MustCompile(`(?i)^(?:nvrm:? )?xid[ -]?(\d{1,3})$`)

// resourceCheck finds names of devices that are misspelt.
const resourceCheck = "resource-name-misspelt"

// signalOf says by which signal a shell reports a program ended that has such an exit code.
func signalOf(code int) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	return fmt.Sprintf(" A shell says so of a program that signal %d ended.", code-128)
}

// explain prints what the reference has under a name, all of it where a name means several
// things; case does not matter, nor whether its words are joined by dashes. JSON has the first.
func explain(sh *shell.Shell, all []Shelf, name, format string) error {
	found, err := called(all, name)
	for _, spelt := range []string{strings.ReplaceAll(name, " ", "-"), strings.TrimPrefix(strings.ToLower(name), "exit code ")} {
		if err == nil && len(found) == 0 {
			found, err = called(all, spelt)
		}
	}
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return show(sh, format, found...)
	}
	entries, err := ofThatSort(all, strings.ReplaceAll(name, " ", "-"))
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return explainSort(sh, format, entries, "")
	}
	if m := xidCalled.FindStringSubmatch(name); m != nil { // as the driver writes it in the kernel's log
		known, err := knownLine("NVRM: Xid (PCI:0000:00:00): " + m[1] + ", pid=1, name=python")
		if err != nil || known != "" {
			if err == nil {
				err = terminal.NewPage(sh.Out).Quoting().Write(known)
			}
			return err
		}
	}
	names := Names(all)
	if within := entriesWith(all, name); len(within) > 0 {
		fmt.Fprintf(sh.Err, "%s: nothing is called %q alone; these have it in their names:\n", sh.Name, name)
		if err := explainSort(sh, format, within, name); err != nil {
			return err
		}
		return &shell.Exit{Code: shell.ExitUsage} // several are no answer to what one name means
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(name), "exit-"), "exit code ")); err == nil && n > 0 && n < 256 {
		w := Word{strconv.Itoa(n), "exit code of a container", "No general meaning: the program chose it, and its log says why." + signalOf(n)}
		return show(sh, format, shelved{exitCodeShelf(), w.entry()})
	}
	if known, err := knownLine(name); err != nil || known != "" {
		if err == nil {
			fmt.Fprintf(sh.Err, "%s: nothing is called %q; in a log it is known:\n", sh.Name, name)
			err = terminal.NewPage(sh.Out).Quoting().Write(known)
		}
		return err
	}
	if meant := job.MeantAccelerator(corev1.ResourceName(name)); meant != "" {
		if found, err = called(all, resourceCheck); err != nil {
			return err
		}
		fmt.Fprintf(sh.Err, "%s: no device plugin has a resource %q; did you mean %q? This check finds it:\n", sh.Name, name, string(meant))
		return show(sh, format, found...)
	}
	if several, err := severally(all, name); err != nil || len(several) > 0 {
		if err == nil {
			err = show(sh, format, several...)
		}
		return err
	}
	if said := saidBy(all, name); len(said) > 0 {
		fmt.Fprintf(sh.Err, "%s: nothing is called %q; these mention it:\n", sh.Name, name)
		return explainSort(sh, format, said, name)
	}
	if near := check.DidYouMean(name, names).String(); near != "" {
		return shell.Usagef("nothing is called %q; %s list shows all names%s", name, sh.Name, near)
	}
	parts := strings.ReplaceAll(name, "-", " ")
	if said := saidBy(all, parts); len(said) > 0 { // a name made as ours are
		fmt.Fprintf(sh.Err, "%s: nothing is called %q; these mention its words:\n", sh.Name, name)
		return explainSort(sh, format, said, parts)
	}
	return shell.Usagef("nothing is called %q; %s list shows all names", name, sh.Name)
}

// severally is what each of several words is called; empty: there is one word, or one that is no name.
func severally(all []Shelf, words string) (out []shelved, err error) {
	fields := strings.Fields(words)
	if len(fields) < 2 {
		return nil, nil
	}
	for _, word := range fields {
		found, err := called(all, word)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// show prints entries; JSON has the first.
func show(sh *shell.Shell, format string, found ...shelved) error {
	var texts []string
	for _, f := range found {
		switch format {
		case "json":
			return shell.WriteJSON(sh.Out, f.value)
		case "md":
			if f.hint != "" {
				f.page = strings.TrimSpace(f.page) + "\n\n" + f.hint + "\n"
			}
			texts = append(texts, fmt.Sprintf("## %s\n\n%s\n", f.Name, strings.TrimSpace(cmp.Or(f.page, strings.Join(f.Row[1:], ": ")))))
		default:
			texts = append(texts, plainText(f.shelf, f.Entry))
		}
	}
	return terminal.NewPage(sh.Out).Quoting().Write(strings.Join(texts, "\n"))
}

// knownLine is what signatures know of words that may be of a log, where they are several; empty: none knows them.
func knownLine(words string) (string, error) {
	if len(strings.Fields(words)) < 2 {
		return "", nil
	}
	catalog, err := signatures.Builtin()
	if err != nil {
		return "", fmt.Errorf("read signatures: %w", err)
	}
	if len(catalog.Explain(words, signature.Log, signature.Event, signature.Status, signature.Node)) == 0 {
		return "", nil
	}
	var b strings.Builder
	err = oneline.Explain(&b, catalog, words)
	return b.String(), err
}

// saidBy are the entries that have a word, such as a reason of Kubernetes, in what they say, or each of several words; those
// first that say it in their row.
func saidBy(all []Shelf, text string) (out []shelved) {
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		return nil
	}
	words := []string{text}
	if strings.ContainsAny(text, " /") { // no name is written so
		words = strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	says := func(text string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !terminal.HasWord(text, w) })
	}
	var inPage []shelved
	for _, s := range all {
		entries, err := s.Entries()
		if err != nil || s.Name == "flags" || s.Name == "settings" {
			continue
		}
		for _, e := range entries {
			switch {
			case says(strings.Join(e.Row, " ")):
				out = append(out, shelved{s, e})
			case says(e.page):
				inPage = append(inPage, shelved{s, e})
			}
		}
	}
	out = append(out, inPage...)
	together := func(e shelved) int { // where the words stand as they were written, they are meant so
		if strings.Contains(strings.ToLower(strings.Join(e.Row, " ")+" "+e.page), strings.ToLower(text)) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b shelved) int { return together(a) - together(b) })
	return out
}

// shelved is an entry and where it stands.
type shelved struct {
	shelf Shelf
	Entry
}

// called is everything of that name. A number is the exit code of a container, too, after our own: "137" is the rule
// exit-137-sigkill.
func called(all []Shelf, name string) ([]shelved, error) {
	var exact, exits []shelved
	for _, s := range all {
		entries, err := s.Entries()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Name, err)
		}
		for _, e := range entries {
			number, isExit := strings.CutPrefix(e.Name, "exit-")
			number, _, _ = strings.Cut(number, "-")
			switch {
			case strings.EqualFold(e.Name, name):
				exact = append(exact, shelved{s, e})
			case s.Name == "rules" && isExit && (name == number || name == "exit-"+number):
				exits = append(exits, shelved{s, e})
			}
		}
	}
	return append(exact, exits...), nil
}

// ofThatSort is everything that is of the sort that a word names: "exit-code" and "exit-codes" are the exit codes, "mode" is
// every mode of a namespace.
func ofThatSort(all []Shelf, name string) ([]shelved, error) {
	named := func(sort string) bool {
		sort = strings.ReplaceAll(sort, " ", "-")
		return strings.EqualFold(sort, name) || strings.EqualFold(sort, name+"s")
	}
	var out []shelved
	for _, s := range all {
		entries, err := s.Entries()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", s.Name, err)
		}
		for _, e := range entries {
			w, isWord := e.value.(Word)
			sort, _, _ := strings.Cut(w.What, " of ") // "mode of a namespace"
			if named(s.Name) || isWord && (named(sort) || named(sort+"s")) {
				out = append(out, shelved{s, e})
			}
		}
	}
	return out, nil
}

// explainSort prints entries, a line each: of those that were looked for by words a few, and how the others are listed; JSON
// has all.
func explainSort(sh *shell.Shell, format string, entries []shelved, words string) error {
	if format == "json" {
		values := make([]any, len(entries))
		for i, e := range entries {
			values[i] = e.value
		}
		return shell.WriteJSON(sh.Out, values)
	}
	var left []shelved
	if words != "" && len(entries) > mostNamesListed {
		entries, left = entries[:mostNamesListed], entries[mostNamesListed:]
	}
	form := "%s\n    %s\n"
	if format == "md" {
		form = "- `%s`: %s\n"
	}
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, form, e.Name, e.Row[len(e.Row)-1])
	}
	fmt.Fprintf(&b, "\n%s explain NAME says more of one of them.\n", sh.Name)
	if len(left) > 0 {
		var shelves []string
		for _, e := range left {
			shelves = append(shelves, e.shelf.Name)
		}
		fmt.Fprintf(&b, "%d more: %s list %s %s\n", len(left), sh.Name, strings.Join(slices.Compact(slices.Sorted(slices.Values(shelves))), "|"), words)
	}
	return terminal.NewPage(sh.Out).Quoting().Write(b.String())
}

// explainLine prints which signatures know a line, the one that counts first.
func explainLine(sh *shell.Shell, line string, folders []string) error {
	catalog, err := signatures.With(folders)
	if err != nil {
		return err
	}
	page := terminal.NewPage(sh.Out)
	explain := func(line string) error {
		var b strings.Builder
		if err := oneline.Explain(&b, catalog, line); err != nil {
			return err
		}
		return page.Write(b.String())
	}
	if line != "-" {
		return explain(line)
	}
	n := 0
	in := bufio.NewScanner(sh.In)
	for in.Scan() { // as for all that takes a file
		if line := strings.TrimSpace(in.Text()); line != "" {
			if n++; n > mostLinesExplained {
				fmt.Fprintf(sh.Err, "%s: standard input has more than %d lines, and the others are not explained; %[1]s diagnose --log - reads a whole log\n", sh.Name, mostLinesExplained)
				break
			}
			if n > 1 {
				fmt.Fprintln(sh.Out)
			}
			if err := explain(line); err != nil {
				return err
			}
		}
	}
	if err := in.Err(); err != nil {
		return shell.Usagef("read line %d of standard input: %w", n+1, err)
	}
	if n == 0 {
		return shell.Usagef("standard input holds no line; expected a line of a log")
	}
	return nil
}

// mostLinesExplained bounds the lines of standard input: a whole log is for diagnose.
const mostLinesExplained = 20

// mostNamesListed is how many names that hold a word are listed.
const mostNamesListed = 12

// NamesWith are the names that a word is part of, bounded by what is no letter; empty: none.
func NamesWith(word string, names []string) string {
	var out []string
	for _, name := range names {
		if terminal.HasWord(name, word) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if n := len(out) - mostNamesListed; n > 0 {
		out = append(out[:mostNamesListed], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}

// entriesWith are the entries that have a word in their names, bounded by what is no letter, categories first, which say most.
func entriesWith(all []Shelf, word string) (out []shelved) {
	for _, s := range all {
		entries, err := s.Entries()
		if err != nil {
			continue
		}
		var named []shelved
		for _, e := range entries {
			if terminal.HasWord(e.Name, word) {
				named = append(named, shelved{s, e})
			}
		}
		if s.Name == "categories" {
			out = append(named, out...)
			continue
		}
		out = append(out, named...)
	}
	return out
}

// goesOn is a line of a paragraph in Markdown: no heading, item, table, quotation or fence.
var goesOn = regexp.MustCompile("^[^-#|>`*\\s]|^`[^`]|^\\*\\*")

// plainText is an entry for the terminal: the page without Markdown's marks.
func plainText(s Shelf, e Entry) string {
	e.page = cmp.Or(e.text, e.page)
	if w, ok := e.value.(Word); ok {
		return fmt.Sprintf("%s (%s)\n\n%s\n", w.Name, w.What, w.Meaning)
	}
	if e.page == "" {
		return fmt.Sprintf("%s (%s)\n\n%s\n", e.Name, strings.TrimSuffix(s.Name, "s"), strings.Join(e.Row[1:], "\n"))
	}
	kind := map[string]string{"policies": "policy", "categories": "category", "exit-codes": "exit code"}[s.Name]
	if kind == "" {
		kind = strings.TrimSuffix(s.Name, "s")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n", e.Name, kind)
	code, before := false, ""
	for line := range strings.Lines(strings.TrimSpace(e.page) + "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code:
			b.WriteString("    " + line)
		default:
			if goesOn.MatchString(before) && goesOn.MatchString(line) { // one paragraph, which the page folds as wide as it is
				text := strings.TrimSuffix(b.String(), "\n")
				b.Reset()
				b.WriteString(text + " ")
			}
			b.WriteString(strings.NewReplacer("**", "", "`", "").Replace(strings.TrimPrefix(strings.TrimLeft(line, "#"), " ")))
		}
		before = line
	}
	return b.String()
}

// Names are the names of all entries.
func Names(all []Shelf) []string {
	var out []string
	for _, s := range all {
		entries, err := s.Entries()
		if err != nil {
			continue
		}
		for _, e := range entries {
			out = append(out, e.Name)
		}
	}
	return out
}
