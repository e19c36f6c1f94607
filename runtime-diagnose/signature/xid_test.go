package signature_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// xidFamilies sorts the Xids of NVIDIA's catalog by what it says to do about them: restart or
// check the application, reset the device, look at the link, nothing. Numbers that the
// catalog calls unused fall to xid-other. From the catalog for Ampere and newer
// (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, read in 2026) and
// the names in src/common/sdk/nvidia/inc/nverror.h of NVIDIA/open-gpu-kernel-modules.
var xidFamilies = []struct {
	signature string
	domain    signature.Domain
	spans     [][2]int
}{
	{"xid-application", signature.User, [][2]int{{11, 11}, {13, 13}, {25, 25}, {31, 31}, {43, 43}, {45, 45}, {69, 69}, {80, 80}}},
	{"xid-bus", signature.Hardware, [][2]int{{79, 79}, {167, 167}}},
	{"xid-ecc", signature.Hardware, [][2]int{{48, 48}, {64, 64}, {92, 92}, {94, 95}, {140, 140}, {157, 157}, {161, 161}, {171, 172}}},
	{"xid-ecc-retired", signature.Hardware, [][2]int{{63, 63}, {93, 93}, {156, 156}, {160, 160}}},
	{"xid-engine", signature.Nobody, [][2]int{{20, 22}, {27, 29}, {33, 36}, {39, 42}, {47, 47}, {60, 60}, {65, 65}, {68, 68}, {70, 73}, {75, 77}, {82, 86}, {88, 89}, {96, 105}, {126, 135}, {139, 139}, {142, 142}}},
	{"xid-firmware", signature.Platform, [][2]int{{8, 8}, {37, 38}, {44, 44}, {46, 46}, {56, 59}, {61, 62}, {66, 67}, {78, 78}, {109, 110}, {122, 125}, {141, 141}, {143, 143}, {151, 153}, {158, 158}, {169, 169}}},
	{"xid-gsp", signature.Platform, [][2]int{{119, 120}}},
	{"xid-note", signature.Hardware, [][2]int{{14, 14}, {23, 23}, {106, 107}, {154, 154}, {162, 165}, {168, 168}}},
	{"xid-nvlink", signature.Hardware, [][2]int{{74, 74}, {108, 108}, {136, 137}, {144, 150}, {155, 155}, {166, 166}, {170, 170}}},
	{"xid-other", signature.Hardware, [][2]int{{1, 7}, {9, 10}, {12, 12}, {15, 19}, {24, 24}, {26, 26}, {30, 30}, {32, 32}, {49, 49}, {81, 81}, {90, 91}, {111, 118}, {121, 121}, {138, 138}, {159, 159}}},
	{"xid-power", signature.Hardware, [][2]int{{50, 55}, {87, 87}}},
}

// lastXid is the last number of the catalog.
const lastXid = 172

func TestEveryXidOfTheCatalogHasOneMeaning(t *testing.T) {
	c := builtin(t)
	seen := map[int]bool{}
	for _, family := range xidFamilies {
		for _, span := range family.spans {
			for n := span[0]; n <= span[1]; n++ {
				seen[n] = true
				text := fmt.Sprintf("[ 1200.52] NVRM: Xid (PCI:0000:3b:00): %d, pid=2024, name=python, Ch 00000007", n)
				var got []string
				for _, m := range c.Match(text, evidence.Log) {
					got = append(got, m.Signature.ID)
					if m.Facts["xid"] != fmt.Sprint(n) || m.Signature.Domain != family.domain {
						t.Errorf("Xid %d: fact %q, domain %s; want %d and %s", n, m.Facts["xid"], m.Signature.Domain, n, family.domain)
					}
				}
				if !slices.Equal(got, []string{family.signature}) {
					t.Errorf("Xid %d is matched by %v; want %s alone", n, got, family.signature)
				}
			}
		}
	}
	for n := 1; n <= lastXid; n++ {
		if !seen[n] {
			t.Errorf("Xid %d is in no family", n)
		}
	}
}
