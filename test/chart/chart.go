// Package chart makes those templates of config/chart that are manifests of config with a namespace
// and labels filled in by helm, so that nothing stands in two places. The Deployment and the settings
// are templates written by hand; a test renders the chart and config/default and compares all objects.
//
// Start reading at Templates.
package chart

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:generate go run generate.go

// source is a template that is made of files below the repository.
type source struct {
	template string
	files    []string
	when     string // the condition of all of it; empty: always
}

var sources = []source{
	{"account.yaml", []string{"config/rbac/account.yaml"}, ""},
	{"rbac.yaml", []string{"config/rbac/jobs.yaml", "config/rbac/user.yaml", "config/rbac/view.yaml", "config/rbac/evidence.yaml", "config/rbac/own.yaml", "config/rbac/bindings.yaml"}, ""},
	{"rbac-certificate.yaml", []string{"config/rbac/certificate.yaml"}, `eq .Values.certificates.mode "builtin"`},
	{"bounds.yaml", []string{"config/rbac/bounds.yaml"}, ""},
	{"webhook.yaml", []string{"config/webhook/webhook.yaml"}, ""},
	{"closed.yaml", []string{"config/components/closed/webhook.yaml"}, ".Values.closed.enabled"},
	{"rbac-closed.yaml", []string{"config/components/closed/rbac.yaml"}, `and .Values.closed.enabled (eq .Values.certificates.mode "builtin")`},
	{"service.yaml", []string{"config/webhook/service.yaml"}, ""},
	{"disruption.yaml", []string{"config/manager/disruption.yaml"}, ""},
	{"network.yaml", []string{"config/manager/network.yaml"}, ".Values.networkPolicy.enabled"},
	{"monitor.yaml", []string{"config/monitoring/monitor.yaml"}, ".Values.monitoring.podMonitor"},
	{"aegis-crd.yaml", []string{"config/aegis/crd.yaml"}, "and .Values.aegis.enabled .Values.aegis.crd"},
	{"aegis.yaml", []string{"config/aegis/rbac.yaml"}, ".Values.aegis.enabled"},
	{"cert-manager.yaml", []string{"certs/issuer.yaml", "certs/certificate.yaml"}, `eq .Values.certificates.mode "cert-manager"`},
}

// namespace is what stands in the manifests where helm fills in the namespace of the release.
const namespace = "signalbox-system"

// whole are lines whose value is the namespace and nothing else: 123, true and null are names of namespaces, too.
var whole = regexp.MustCompile(`(?m)^( *(?:- |\w+: |- \w+: ))` + namespace + `$`)

// Templates are the files below config/chart/templates by name, made of the manifests below root.
func Templates(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range sources {
		var text strings.Builder
		text.WriteString("{{- /* Code generated from " + strings.Join(s.files, ", ") + " by test/chart. DO NOT EDIT. */ -}}\n")
		if s.when != "" {
			text.WriteString("{{- if " + s.when + " }}\n")
		}
		for i, file := range s.files {
			manifest, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				return nil, fmt.Errorf("make a template: %w", err)
			}
			if strings.Contains(string(manifest), "{{") {
				return nil, fmt.Errorf("make a template of %s: it holds {{, which helm would read", file)
			}
			if i > 0 {
				text.WriteString("---\n")
			}
			text.WriteString(template(string(manifest)))
		}
		if s.when != "" {
			text.WriteString("{{- end }}\n")
		}
		out[s.template] = text.String()
	}
	return out, parametrise(out)
}

// Copies are the files below config/chart/files by name: what a template takes as it is, because Prometheus and
// Grafana fill in what stands in braces.
func Copies(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{"rules.yaml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join(root, "config", "monitoring", name))
		if err != nil {
			return nil, fmt.Errorf("copy a file: %w", err)
		}
		out[name] = string(text)
	}
	return out, nil
}

// template is a manifest with the namespace of the release and the labels of the chart.
func template(manifest string) string {
	manifest = strings.TrimPrefix(manifest, "# Code generated from preflight/kinds by webhook/generate.go. DO NOT EDIT.\n")
	manifest = whole.ReplaceAllString(manifest, "$1{{ .Release.Namespace | quote }}")
	manifest = strings.ReplaceAll(manifest, namespace, "{{ .Release.Namespace }}")
	var b strings.Builder
	begun := false
	for line := range strings.Lines(manifest) {
		if !begun || line != "  labels:\n" { // those of the manifest come behind
			b.WriteString(line)
		}
		if begun = line == "metadata:\n"; begun {
			b.WriteString("  labels:\n    {{- include \"signalbox.labels\" . | nindent 4 }}\n")
		}
	}
	return b.String()
}

// parametrise puts in what values decide inside of a manifest.
func parametrise(templates map[string]string) error {
	kinds, err := resources(templates["closed.yaml"])
	if err != nil {
		return err
	}
	for _, p := range []struct{ name, at, text string }{
		{"webhook.yaml", "  name: signalbox\nwebhooks:", `  name: signalbox
  {{- if eq .Values.certificates.mode "cert-manager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/signalbox-webhook
  {{- end }}
webhooks:`},
		{"webhook.yaml", "      - {{ .Release.Namespace | quote }}\n    - key: signalbox.dev/mode", `      - {{ .Release.Namespace | quote }}
      {{- with .Values.namespaces.exclude }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    - key: signalbox.dev/mode`},
		{"closed.yaml", "{{- if .Values.closed.enabled }}\n", `{{- if .Values.closed.enabled }}
{{- if lt (int .Values.replicas) 2 }}
{{- fail (printf "closed.enabled takes replicas of 2 or more, and replicas is %d: with one, each restart refuses all jobs of the chosen namespaces" (int .Values.replicas)) }}
{{- end }}
{{- $chosen := .Values.closed.namespaceSelector }}
`},
		{"closed.yaml", "  name: signalbox-closed\nwebhooks:", `  name: signalbox-closed
  {{- if eq .Values.certificates.mode "cert-manager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/signalbox-webhook
  {{- end }}
webhooks:`},
		{"closed.yaml", "  matchPolicy: Exact\n", `  {{- with .Values.closed.kinds }}
  {{- $known := list ` + kinds + ` }}
  {{- range . }}
  {{- if not (has . $known) }}
  {{- fail (printf "closed.kinds names %q; known are %s" . (join ", " $known)) }}
  {{- end }}
  {{- end }}
  - expression: '(request.resource.resource + "." + request.resource.group) in {{ toJson . }}'
    name: chosen-kinds
  {{- end }}
  matchPolicy: Exact
`},
		{"closed.yaml", "      - kube-node-lease\n", `      - kube-node-lease
      {{- with .Values.namespaces.exclude }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
`},
		{"closed.yaml", "      - enforce\n    matchLabels:\n      signalbox.dev/failure: closed\n", `      - enforce
    {{- with $chosen.matchExpressions }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- if $chosen.matchLabels }}
    matchLabels:
      {{- toYaml $chosen.matchLabels | nindent 6 }}
    {{- else if not $chosen.matchExpressions }}
    matchLabels:
      signalbox.dev/failure: closed
    {{- end }}
`},
	} {
		if n := strings.Count(templates[p.name], p.at); n != 1 {
			return fmt.Errorf("make the template %s: %q stands in it %d times; expected once", p.name, p.at, n)
		}
		templates[p.name] = strings.Replace(templates[p.name], p.at, p.text, 1)
	}
	return nil
}

// resources are those of a configuration's rules as words of a template, each with its group.
func resources(template string) (string, error) {
	_, rules, ok := strings.Cut(template, "\n  rules:\n")
	if !ok {
		return "", errors.New("make a template: the configuration has no rules")
	}
	rules, _, _ = strings.Cut(rules, "\n  sideEffects:")
	var of []struct{ APIGroups, Resources []string }
	if err := yaml.Unmarshal([]byte(rules), &of); err != nil {
		return "", fmt.Errorf("make a template: read the rules: %w", err)
	}
	var out []string
	for _, r := range of {
		for _, resource := range r.Resources {
			if !strings.Contains(resource, "/") { // scale goes with its job
				out = append(out, fmt.Sprintf("%q", resource+"."+r.APIGroups[0]))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " "), nil
}
