package policies

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"

	"sigs.k8s.io/yaml"
)

// PassedOver are the files of a folder that look like data and are manifests of Kubernetes: they lie beside policies
// where somebody works on both, and each would set data.apiVersion to another value.
func PassedOver(fsys fs.FS) (names []string, err error) {
	err = eachFile(fsys, func(s source) {
		if path.Ext(s.name) != ".rego" && isManifest(s.text) {
			names = append(names, s.name)
		}
	})
	return names, err
}

// What a manifest has at its margin also where it is no YAML, as a template of a chart, or begins with an empty document.
var (
	marginVersion = regexp.MustCompile(`(?m)^apiVersion:[ \t]*\S`)
	marginKind    = regexp.MustCompile(`(?m)^kind:[ \t]*\S`)
)

// isManifest says whether a file is an object of Kubernetes: it has apiVersion and kind at the top, and no settings
// of policies, which are data whatever stands beside them.
func isManifest(text []byte) bool {
	if !bytes.Contains(text, []byte("apiVersion")) || !bytes.Contains(text, []byte("kind")) {
		return false
	}
	var top map[string]any
	if err := yaml.Unmarshal(text, &top); err != nil || len(top) == 0 {
		return marginVersion.Match(text) && marginKind.Match(text)
	}
	version, _ := top["apiVersion"].(string)
	kind, _ := top["kind"].(string)
	return version != "" && kind != "" && top["config"] == nil && top["signalbox"] == nil
}
