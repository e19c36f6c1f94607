package cluster

import "testing"

func TestOnlyWhatHasOneMeaningIsReadOfASelector(t *testing.T) {
	large, four, on := "large", int64(4), true
	d := &publishedDevice{Attributes: map[string]deviceAttribute{
		"size": {String: &large}, "slots": {Int: &four}, "other.com/ecc": {Bool: &on}, "version": {},
	}, Capacity: map[string]deviceCapacity{"memory": {"80Gi"}, "other.com/cores": {"40"}, "odd": {"many"}}}
	cases := map[string]answer{
		`device.driver == "gpu.com"`: yes,
		`device.driver=='gpu.com'`:   yes,
		`device.driver == "nic.com"`: no,
		`device.driver == "gpu.com" && device.attributes["gpu.com"].size == "large"`: yes,
		`device.driver == "gpu.com" && device.attributes["gpu.com"].size == "small"`: no,
		`device.attributes["gpu.com"].slots == 4`:                                    yes,
		`device.attributes["gpu.com"].slots == 5`:                                    no,
		`device.attributes["other.com"].ecc == true`:                                 yes,
		`device.attributes["other.com"].ecc == false`:                                no,
		`device.attributes["other.com"].size == "large"`:                             perhaps, // it is not there
		`device.attributes["gpu.com"].slots == "4"`:                                  perhaps, // it is a number
		`device.attributes["gpu.com"].version == "1"`:                                perhaps,
		`device.driver != "nic.com"`:                                                 perhaps,
		`device.driver == "nic.com" && device.capacity["gpu.com"].memory.value > 1`:  no, // whatever the other side says
		`device.driver == "nic.com" || device.attributes["gpu.com"].size == "large"`: perhaps,
		`device.driver == "nic.com" ? true : true`:                                   perhaps,
		`!(device.driver == "nic.com" && true)`:                                      perhaps,
		`[1].exists(x, x == 1 && device.driver == "nic.com" && true)`:                perhaps,
		`"a && device.driver == 'nic.com' && b" == "c"`:                              perhaps,
		"true // && device.driver == \"nic.com\"":                                    perhaps,
		`device.driver == "n\u0069c.com"`:                                            perhaps,
		`device.attributes["gpu.com"].slots == 99999999999999999999`:                 perhaps,
		``: perhaps,
		`device.capacity["gpu.com"].memory.compareTo(quantity("80Gi")) >= 0`:     yes,
		`device.capacity["gpu.com"].memory.compareTo(quantity("81Gi")) >= 0`:     no,
		`device.capacity["gpu.com"].memory.compareTo(quantity("80Gi")) > 0`:      no,
		`device.capacity["gpu.com"].memory.compareTo(quantity("81920Mi")) == 0`:  yes,
		`device.capacity["gpu.com"].memory.compareTo(quantity('40Gi')) <= 0`:     no,
		`device.capacity["gpu.com"].memory.isGreaterThan(quantity("40Gi"))`:      yes,
		`device.capacity["gpu.com"].memory.isLessThan(quantity("40Gi"))`:         no,
		`device.capacity["other.com"].cores.compareTo(quantity("40")) != 0`:      no,
		`device.capacity["gpu.com"].memory.compareTo(quantity("80Gi"))`:          perhaps, // it is no truth
		`device.capacity["gpu.com"].memory.isGreaterThan(quantity("40Gi")) == 0`: perhaps,
		`device.capacity["gpu.com"].memory.compareTo(quantity("80Gi")) >= 1`:     perhaps,
		`device.capacity["gpu.com"].memory.compareTo(quantity("much")) >= 0`:     perhaps,
		`device.capacity["gpu.com"].cores.compareTo(quantity("40")) >= 0`:        perhaps, // it is not there
		`device.capacity["gpu.com"].odd.compareTo(quantity("40")) >= 0`:          perhaps,
	}
	for expression, want := range cases {
		s := readSelector(expression)
		if got := s.matches("gpu.com", d); got != want {
			t.Errorf("%s: %d; want %d", expression, got, want)
		}
	}
}
