package chart

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var root = filepath.Join("..", "..")

func TestTemplatesAreThoseOfTheManifests(t *testing.T) {
	files, err := Templates(root)
	if err != nil {
		t.Fatal(err)
	}
	copies, err := Copies(root)
	if err != nil {
		t.Fatal(err)
	}
	for folder, files := range map[string]map[string]string{"templates": files, "files": copies} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			have, err := os.ReadFile(filepath.Join(root, "config", "chart", folder, name))
			if err != nil {
				t.Error(err)
				continue
			}
			if diff := cmp.Diff(files[name], string(have)); diff != "" {
				t.Errorf("config/chart/%s/%s (-want +got):\n%s\nRun: make generate", folder, name, diff)
			}
		}
	}
}

// The chart is that of one version; the manifests name no image.
func TestTheChartIsOfOneVersion(t *testing.T) {
	var chart struct{ Version, AppVersion string }
	text, err := os.ReadFile(filepath.Join(root, "config/chart/Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &chart); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(chart.AppVersion) || chart.Version != chart.AppVersion {
		t.Errorf("the chart is %s of %s; want one version", chart.Version, chart.AppVersion)
	}
}

// A value is one value: in none of them a line ends what it is part of and begins another object.
func TestValuesAreQuoted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config", "chart", "templates", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	action := regexp.MustCompile(`{{-?\s*(.*?)\s*-?}}`)
	silent := regexp.MustCompile(`^(/\*|if |else|end$|with |range |fail |\$\w+ :?=)`)
	written := regexp.MustCompile(`quote|toYaml|toJson|^include "signalbox.labels"|^include "signalbox.config"`)
	number := regexp.MustCompile(`^\$?\.Values\.replicas$`)                                                     // values.schema.json takes a number
	part := regexp.MustCompile(`(?:[-/.:\w]{{ *\.Release\.Namespace *}}|{{ *\.Release\.Namespace *}}[-/.:\w])`) // of a text, which no name ends
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rest := part.ReplaceAllString(string(text), "")
		for _, m := range action.FindAllStringSubmatch(rest, -1) {
			if !silent.MatchString(m[1]) && !written.MatchString(m[1]) && !number.MatchString(m[1]) {
				t.Errorf("%s writes %s as it is", filepath.Base(file), m[0])
			}
		}
	}
}
