// Command write makes docs/reference/promises.md of the rows.
package main

import (
	"log"
	"os"

	"github.com/signalbox-dev/signalbox/test/promises"
)

func main() {
	rows, err := promises.Rows()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("../../docs/reference/promises.md", []byte(promises.Page(rows)), 0o644); err != nil {
		log.Fatal(err)
	}
}
