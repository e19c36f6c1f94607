// Package words counts things in plain English: "1 node", "4 nodes", "1 Master + 5 Workers".
package words
