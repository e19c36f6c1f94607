package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// The parts of SPDX 2.3 that are used (https://spdx.github.io/spdx-spec/v2.3/).
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		License       string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string         `json:"SPDXID"`
		Name      string         `json:"name"`
		Version   string         `json:"versionInfo"`
		Location  string         `json:"downloadLocation"`
		Analysed  bool           `json:"filesAnalyzed"`
		Concluded string         `json:"licenseConcluded"`
		Declared  string         `json:"licenseDeclared"`
		Copyright string         `json:"copyrightText"`
		Comment   string         `json:"comment,omitempty"`
		Checksums []spdxChecksum `json:"checksums,omitempty"`
		Refs      []spdxRef      `json:"externalRefs,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRef struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		Type string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

const unsaid = "NOASSERTION"

// notInID is what an SPDX identifier may not hold.
var notInID = regexp.MustCompile(`[^-.a-zA-Z0-9]+`)

// sbom says what a program is made of, from what the linker wrote into it: not what go.mod asks for, but
// what is in there.
func (r *release) sbom(platform v1.Platform, binary []byte) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("read what the program is made of: %w", err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(binary))
	root := module(info.Main.Path, r.version, "")
	root.ID, root.Declared = "SPDXRef-signalbox", "Apache-2.0"
	root.Checksums = []spdxChecksum{{"SHA256", sum}}
	out := spdxDocument{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT",
		Name:      fmt.Sprintf("signalbox-%s-%s-%s", r.version, platform.OS, platform.Architecture),
		Namespace: "https://github.com/signalbox-dev/signalbox/spdx/" + sum,
		Creation:  spdxCreation{r.at.Format(time.RFC3339), []string{"Tool: signalbox-release"}},
		Packages:  []spdxPackage{root}, Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", root.ID}},
	}
	parts := []spdxPackage{module("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, d := range info.Deps {
		d = cmp.Or(d.Replace, d)
		parts = append(parts, module(d.Path, d.Version, d.Sum))
	}
	slices.SortFunc(parts, func(a, b spdxPackage) int { return cmp.Compare(a.ID, b.ID) })
	for _, p := range parts {
		out.Packages = append(out.Packages, p)
		out.Relationships = append(out.Relationships, spdxRelationship{root.ID, "DEPENDS_ON", p.ID})
	}
	text, err := json.MarshalIndent(out, "", " ")
	return append(text, '\n'), err
}

// module is a package of the document: where it lies is told by its purl. The sum of go.sum is of a listing, and no algorithm of SPDX.
func module(path, version, sum string) spdxPackage {
	p := spdxPackage{
		ID: "SPDXRef-" + notInID.ReplaceAllString(path+"-"+version, "-"), Name: path, Version: version,
		Location: unsaid, Concluded: unsaid, Declared: unsaid, Copyright: unsaid,
		Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
	if sum != "" {
		p.Comment = "go.sum: " + sum
	}
	return p
}
