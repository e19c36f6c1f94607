package fit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// manyDevices are gangs with claims of devices on so many nodes of eight, some of which pods hold: of one
// class, of requests that select some of the same devices, by an attribute that differs from device to
// device, and of as many requests as are counted.
func manyDevices(b testing.TB, nodes int) []hostile {
	var text strings.Builder
	text.WriteString(highClass + "\n---\n" + classes)
	var items []any
	for i := range nodes {
		name := fmt.Sprintf("n%04d", i)
		items = append(items, build.Node(name))
		var devices []string
		for at := range 8 {
			size := []string{"large", "small"}[at%2]
			devices = append(devices, fmt.Sprintf(", attributes: {size: {string: %s}, uuid: {string: u-%d-%d}, model: {string: h100}, slot: {int: %d}}", size, i, at, at))
		}
		text.WriteString(pool(name, "", devices...))
		for at := range i % 4 {
			text.WriteString(holds(name, at))
		}
	}
	is := func(attribute, value string) string {
		return fmt.Sprintf(`, selectors: [{cel: {expression: 'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].%s == %s'}}]`, attribute, value)
	}
	text.WriteString(template("whole", of("gpu", 8, "")) + template("one", of("gpu", 1, "")) + template("large", of("large", 2, "")) + template("device", of("gpu", 1, is("uuid", `"u-7-7"`))))
	text.WriteString(template("both", of("gpu", 2, ""), of("large", 2, ""), of("gpu", 1, is("slot", "6")), of("gpu", 1, is("model", `"h100"`))))
	var slots []string
	for at := range 64 {
		name := fmt.Sprintf("slot%02d", at)
		slots = append(slots, name)
		text.WriteString(template(name, of("gpu", 1, is([]string{"slot", "size", "model"}[at%3], fmt.Sprint(at)))))
	}
	s := ruled(b, text.String(), deviceKinds, items...)
	var out []hostile
	for _, g := range []gang.Gang{claiming(64, "whole"), claiming(2000, "whole"), claiming(64, "one", "large"), claiming(16, "both", "large", "one"), claiming(2, "device"), claiming(1, slots...)} {
		out = append(out, hostile{s, g})
	}
	return out
}
