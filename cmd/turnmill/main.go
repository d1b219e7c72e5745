// Command turnmill turns recorded agent trajectories into training data for language world models.
//
//	main  ->  start: signals, root command  ->  newX (flags) -> xOptions (plain struct) -> runX (the work)
//	                                              |
//	                                              +-- recipe: the same names in YAML, flags win
//
// One file a subcommand. Standard output carries data or the asked-for answer only; the rest goes to
// standard error. Exit codes are known in exit.go alone.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(start(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// start runs one command line and returns its exit code.
func start(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	root := newRoot(streams{stdin, stdout, stderr})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprint(stderr, explain(err))
	}
	return exitCode(err)
}

// streams are the three standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}
