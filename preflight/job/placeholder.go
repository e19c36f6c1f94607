package job

import (
	"regexp"
	"strings"
)

// placeholders are the forms in which people leave a value to a template: envsubst and
// shell ($X, ${X}), OpenPAI (<% … %>), Helm and Jinja ({{ … }}), Tekton ($(params.x)),
// and the hand-made __X__, <<X>> and <X>. All of them are valid YAML.
var placeholders = regexp.MustCompile(
	`\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_][A-Za-z0-9_]*|<%.*?%>|\{\{.*?\}\}|__[A-Za-z][A-Za-z0-9_]*?__|<<[^<>]+>>|<[A-Za-z_][A-Za-z0-9_ .-]*>`)

// Templated says that a value holds a placeholder, which is filled in before the value is read.
func Templated(value string) bool {
	_, _, found := Placeholder(value)
	return found
}

// Placeholder finds the first template placeholder in a value that was not substituted,
// as it is written, and the bare name in it: $X and ${X} are the same X. Whether a
// placeholder is a mistake depends on the place: $(X) in an argument is resolved by the
// kubelet, $X in a script by its shell.
func Placeholder(value string) (written, name string, found bool) {
	if !strings.ContainsAny(value, "$<") && !strings.Contains(value, "{{") && !strings.Contains(value, "__") {
		return "", "", false // most values: that is seen sooner than by trying the forms
	}
	if written = placeholders.FindString(value); written == "" {
		return "", "", false
	}
	return written, strings.Trim(written, "$(){}<>%_ "), true
}
