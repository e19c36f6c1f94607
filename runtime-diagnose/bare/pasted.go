package bare

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// How a text of objects begins, behind the command that printed it, blank lines, comments and the mark of a document.
var (
	command     = regexp.MustCompile(`(?:^|[\s$#%>])(?:kubectl|oc) (?:\S+ )*(?:get|describe) `)
	describing  = regexp.MustCompile(`^Name: +\S+\r?\n(?:Namespace|Roles|Labels|Priority): `)
	yamlVersion = regexp.MustCompile(`^apiVersion: *["']?(?:[a-z0-9][a-z0-9.-]*/)?v\d[a-z0-9]*["']? *\r?\n[a-z]+:`)
	yamlKind    = regexp.MustCompile(`^kind: *["']?[A-Z][A-Za-z]+["']? *\r?\napiVersion: `)
	// containerState is how kubectl describe prints the state of a container, whose first field the indented Reason or Started is
	// (https://github.com/kubernetes/kubectl/blob/master/pkg/describe/describe.go, describeStatus); yamlState is that state as
	// kubectl get -o yaml has it (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#ContainerStatus).
	containerState = regexp.MustCompile(`^(?:Last )?State: +(?:Running|Waiting|Terminated)[ \t]*\r?\n[ \t]*(?:Reason|Started|Message|Exit Code): `)
	yamlState      = regexp.MustCompile(`^(?:- )?(?:lastState|state):(?: *\{ *(?:terminated|waiting|running):|[ \t]*\r?\n[ \t]+(?:terminated|waiting|running):)`)
	jsonObject     = regexp.MustCompile(`^\{\s*(?:"kind":\s*"[A-Z][A-Za-z]+",\s*)?"apiVersion":\s*"(?:[a-z0-9][a-z0-9.-]*/)?v\d[a-z0-9]*"`)
)

// tables are the headers of kubectl get pods, nodes and events, by words that all versions of them have and nothing else
// (kubernetes/kubernetes, pkg/printers/internalversion/printers.go).
var tables = [][]string{
	{"NAME", "READY", "STATUS", "RESTARTS", "AGE"},
	{"NAME", "STATUS", "ROLES", "AGE", "VERSION"},
	{"SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"},
	{"LASTSEEN", "FIRSTSEEN", "COUNT", "NAME", "REASON"},
	{"NAMESPACE", "NAME", "READY", "STATUS"},
}

// Pasted says whether a text begins as objects of a cluster do, in YAML or JSON or as kubectl get and kubectl describe print them, and
// not as a container's log. Head is its beginning, of any length.
func Pasted(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for {
		head = bytes.TrimLeft(head, " \t\r\n")
		line, rest, more := bytes.Cut(head, []byte("\n"))
		if !more || !passedOver(bytes.TrimRight(line, " \t\r")) {
			break
		}
		head = rest
	}
	if describing.Match(head) || yamlVersion.Match(head) || yamlKind.Match(head) || jsonObject.Match(head) || containerState.Match(head) || yamlState.Match(head) {
		return true
	}
	line, _, more := strings.Cut(string(head[:min(len(head), 1<<10)]), "\n")
	words := strings.Fields(line)
	return more && slices.ContainsFunc(tables, func(columns []string) bool {
		return !slices.ContainsFunc(columns, func(c string) bool { return !slices.Contains(words, c) }) && strings.ToUpper(line) == line
	})
}

// passedOver says whether a line stands before objects and says nothing of them.
func passedOver(line []byte) bool {
	return len(line) > 0 && (line[0] == '#' && !bytes.HasPrefix(line, []byte("#!")) || string(line) == "---") || command.Match(line)
}
