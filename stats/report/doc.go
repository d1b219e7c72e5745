// Package report writes report.html: one file that says what the mask does to a corpus, without a server, the
// network or a library in the page.
//
//	Page --template--> head, accounts, one block a domain, source, agent and tool
//	     --svg.go----> bars, distributions, density: paths made of numbers
//	     --data.go---> the cells of figures.Joint as JSON, for the script whatif.js
//	     --links.go--> a link at every count: to examples, or to the commands that list what it counts
//	     --examples--> as many, and as much of their texts, as the page has room for
//
// Whatever a corpus holds, the page is smaller than 2 MB: names are limited by figures, cells by its grids, and
// examples take what is left. It reads without a script, which only makes tables that were not tried yet. Content
// is hostile: every text passes html/template, and the page allows no script but its own, by hash.
package report
