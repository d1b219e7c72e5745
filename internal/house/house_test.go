package house

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/turnmill/turnmill"

// layers maps each package, or the tree below it, to what of this module it may import.
var middle = []string{"ingest", "filter", "mask", "shard", "stats"}

type listed struct {
	ImportPath string
	Dir        string
	Imports    []string
	Standard   bool
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags=hf", "-json=ImportPath,Dir,Imports,Standard", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list names %d packages of %s: the rules would prove nothing", len(all), module)
	}
	return all
}

// tree returns the first element of a package's path below the module: "" for the root.
func tree(path string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		from := tree(p.ImportPath)
		for _, path := range p.Imports {
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			to := tree(path)
			var remedy string
			switch {
			case from == "":
				remedy = "the root speaks the domain and imports the standard library only"
			case to == "" || to == "internal":
				continue
			case from == "internal":
				remedy = "internal packages serve the others; what needs this belongs into pipelines"
			case slices.Contains(middle, from):
				if to == from {
					if strings.HasPrefix(path, p.ImportPath+"/") || p.ImportPath != module+"/"+from && !strings.HasPrefix(p.ImportPath, path+"/") {
						continue
					}
					remedy = "sub-packages import downwards or sideways, never their parent"
				} else {
					remedy = "the middle packages never import one another; let them meet in pipelines"
				}
			case from == "pipelines":
				if slices.Contains(middle, to) {
					continue
				}
				remedy = "pipelines imports the middle packages and the root"
			case from == "cmd" || from == "scripts" || from == "bench":
				continue
			default:
				remedy = "no rule names this package; give it a place in DESIGN's layout first"
			}
			t.Errorf("%s imports %s: %s", p.ImportPath, path, remedy)
		}
	}
}

// owners names who may import an outside library.
var owners = map[string][]string{
	"github.com/apache/arrow-go/v18":     {"shard/arrow"},
	"github.com/parquet-go/parquet-go":   {"stats", "ingest/parquet"},
	"github.com/klauspost/compress":      {"ingest/frame", "ingest/parquet", "internal/zstdio"},
	"github.com/andybalholm/brotli":      {"ingest/parquet"},
	"github.com/charmbracelet/x/vt":      {"ingest/screen"},
	"github.com/charmbracelet/x/ansi":    {"ingest/screen"},
	"github.com/daulet/tokenizers":       {"shard/hf"}, // with the build tag hf
	"github.com/pelletier/go-toml/v2":    {"filter/secrets"},
	"github.com/zricethezav/gitleaks/v8": {"filter/secrets"},
	"github.com/spf13/pflag":             {"cmd/turnmill"},
	"github.com/spf13/cobra":             {"cmd/turnmill"},
	"go.yaml.in/yaml/v3":                 {"cmd/turnmill", "ingest/formats"},
	"github.com/vbauerster/mpb/v8":       {"cmd/turnmill"},
	"golang.org/x/sync":                  {"pipelines"},
	"golang.org/x/term":                  {"cmd/turnmill"},
	"net/http":                           {"shard/hub", "filter/judge/endpoint"}, // the standard library's, and still owned
	"github.com/google/go-cmp":           {"internal/golden"},                    // the others below in tests only
	"github.com/rogpeppe/go-internal":    {},
	"pgregory.net/rapid":                 {},
	"honnef.co/go/tools":                 {},
}

func TestOwners(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range p.Imports {
			if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") && owners[path] == nil || strings.HasPrefix(path, module) {
				continue
			}
			own, known := []string(nil), false
			for lib, who := range owners {
				if path == lib || strings.HasPrefix(path, lib+"/") {
					own, known = who, true
				}
			}
			name := strings.TrimPrefix(p.ImportPath, module+"/")
			switch {
			case !known:
				t.Errorf("%s imports %s, which no package owns: add it to the table in docs/decisions and here", name, path)
			case !slices.Contains(own, name):
				t.Errorf("%s imports %s, whose owner is %v: go through the owner", name, path, own)
			}
		}
	}
}

// sources calls f with every Go file of the tree that is not a test.
func sources(t *testing.T, f func(path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	root := filepath.Join("..", "..")
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "build" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		n++
		f(filepath.ToSlash(rel), file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 30 {
		t.Fatalf("%d source files found: the rules would prove nothing", n)
	}
}

func TestGoroutines(t *testing.T) {
	allowed := []string{"pipelines/run.go", "filter/judge/endpoint/pool.go"}
	sources(t, func(path string, file *ast.File, fset *token.FileSet) {
		if slices.Contains(allowed, path) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			starts := false
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr: // errgroup.Group.Go, sync.WaitGroup.Go
				sel, ok := n.Fun.(*ast.SelectorExpr)
				starts = ok && sel.Sel.Name == "Go" && len(n.Args) == 1
			}
			if starts {
				t.Errorf("%s:%d: a goroutine; they are started and joined in %v alone", path, fset.Position(n.Pos()).Line, allowed)
			}
			return true
		})
	})
}

// remedies names calls that make results depend on more than the input, and what to do instead.
var remedies = map[string]string{
	"time.Now":     "take the time from the caller: only cmd and pipelines look at the clock",
	"time.Since":   "take the time from the caller: only cmd and pipelines look at the clock",
	"math/rand":    "draw from SHA-256 of seed, id, turn; see mask",
	"math/rand/v2": "draw from SHA-256 of seed, id, turn; see mask",
	"hash/maphash": "use a hash with a fixed seed: maphash differs from process to process",
}

func TestClocksAndRandomness(t *testing.T) {
	sources(t, func(path string, file *ast.File, fset *token.FileSet) {
		if strings.HasPrefix(path, "cmd/") || strings.HasPrefix(path, "pipelines/") || strings.HasPrefix(path, "bench/") {
			return
		}
		for _, imp := range file.Imports {
			if remedy := remedies[strings.Trim(imp.Path.Value, `"`)]; remedy != "" {
				t.Errorf("%s imports %s: %s", path, imp.Path.Value, remedy)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok {
				if remedy := remedies[x.Name+"."+sel.Sel.Name]; remedy != "" {
					t.Errorf("%s:%d: %s.%s: %s", path, fset.Position(sel.Pos()).Line, x.Name, sel.Sel.Name, remedy)
				}
			}
			return true
		})
	})
}

// TestInit: formats, filters and the like stand in visible tables.
func TestNoInit(t *testing.T) {
	sources(t, func(path string, file *ast.File, fset *token.FileSet) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s:%d: init(): put it into a visible table or pass it in", path, fset.Position(f.Pos()).Line)
			}
		}
	})
}

// TestPackageDocs: a drawing is an indented block in the package comment.
func TestPackageDocs(t *testing.T) {
	drawing := regexp.MustCompile(`(?m)^\t\S`)
	for _, p := range packages(t) {
		fset := token.NewFileSet()
		var files []*ast.File
		names, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		d, err := doc.NewFromFiles(fset, files, p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case d.Doc == "":
			t.Errorf("%s has no package comment: say what it owns and draw its format or flow", p.ImportPath)
		case !drawing.MatchString(d.Doc):
			t.Errorf("%s: its package comment draws nothing: add an indented drawing of its format or flow", p.ImportPath)
		}
	}
}

// TestInterfacesAreSmall: at most three methods.
func TestInterfacesAreSmall(t *testing.T) {
	sources(t, func(path string, file *ast.File, fset *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			if i, ok := n.(*ast.InterfaceType); ok && len(i.Methods.List) > 3 {
				t.Errorf("%s:%d: an interface with %d methods: at most three; split it by who calls what", path, fset.Position(i.Pos()).Line, len(i.Methods.List))
			}
			return true
		})
	})
}
