package attribute

import "github.com/signalbox-dev/signalbox/runtime-diagnose/signature"

// The vetoes: what no score makes up for. Which member went after which is decided in package gang, from
// times whose order is sure alone.
const (
	vetoConfirmation = "it supports another cause and is none itself"
	vetoExplained    = "it only says how its member ended, and its log says why, or somebody told it to"
	vetoDownstream   = "its member went after another one had failed, or says itself that another one was gone"
)

// veto says why a candidate cannot be the cause; empty: it can.
func veto(c *Candidate) string {
	switch {
	case c.Signature.Role != signature.Root && c.Signature.Role != signature.Cascade:
		return vetoConfirmation
	case c.Explained:
		return vetoExplained
	case c.Follower:
		return vetoDownstream
	}
	return ""
}

// lift takes back that members went after others where nothing is left that they could have gone after:
// somebody was first. Where only crashes are left, they confirm nothing else, and are what is known.
func lift(all []Candidate) {
	for i := range all {
		if all[i].Veto == "" {
			return
		}
	}
	own := false
	for i := range all {
		if all[i].Veto == vetoDownstream {
			all[i].Veto, own = "", true
		}
	}
	for i := range all { // a process that aborts has crashed, whether or not anything says why
		if c := &all[i]; !own && c.Veto == vetoConfirmation && c.Signature.Category == crashCategory {
			c.Veto = ""
		}
	}
}

// crashCategory is that of crashes of native code without a better cause.
const crashCategory = "segfault"
