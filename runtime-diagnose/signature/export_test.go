package signature

// MatchesUngated runs one pattern without its gate.
func MatchesUngated(c *Catalog, id, text string) bool {
	for i, s := range c.all {
		if s.ID == id {
			return c.patterns[i].MatchString(text)
		}
	}
	return false
}
