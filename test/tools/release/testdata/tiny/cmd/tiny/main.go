// Command tiny says its version.
package main

var version = "dev"

func main() { println(version) }
