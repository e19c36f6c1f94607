package kinds

import (
	"slices"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	all := fixtures(b)
	for _, k := range All() {
		b.Run("kind="+k.Name, func(b *testing.B) {
			for _, file := range slices.Sorted(func(yield func(string) bool) {
				for name, f := range all {
					if f.kind == k && !yield(name) {
						return
					}
				}
			}) {
				f := all[file]
				b.Run("case="+file[len("testdata/"):], func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						_, _ = k.Read(f.object, f.got)
					}
				})
			}
		})
	}
}
