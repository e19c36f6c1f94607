package kinds

// All are the kinds in the order of their names.
func All() []*Kind { return nil }
