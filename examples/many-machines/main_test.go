package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestSameBits: several ranks in this process learn what one does, and other lanes something else.
func TestSameBits(t *testing.T) {
	all, err := nets()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		n.steps = 3
		trained := func(ranks, lanes int) []outcome {
			out, failed := make([]outcome, ranks), make([]error, ranks)
			done := make(chan int)
			for r, transport := range parallel.Local(ranks) {
				go func() {
					defer func() { done <- r }()
					job, err := parallel.Join(t.Context(), transport, parallel.Config{Lanes: lanes})
					if err != nil {
						failed[r] = err
						return
					}
					out[r], failed[r] = n.train(t.Context(), &lesson.Lesson{Seed: 1, Workers: 1}, job)
				}()
			}
			for range ranks {
				<-done
			}
			for r, err := range failed {
				if err != nil {
					t.Fatalf("%s, rank %d: %v", n.name, r, err)
				}
			}
			return out
		}
		one, two, other := trained(1, 4)[0], trained(2, 4), trained(1, 2)[0]
		for _, o := range two {
			if o.bits != one.bits || o.loss != one.loss {
				t.Errorf("%s: %v on two ranks, %v on one", n.name, o, one)
			}
		}
		if other.bits == one.bits {
			t.Errorf("%s: two lanes have the bits of four", n.name)
		}
		if again, err := read(one.String()); err != nil || again.bits != one.bits || again.name != n.name || again.steps != 3 || again.ranks != 1 {
			t.Errorf("%q reads %v, %v", one.String(), again, err)
		}
	}
}

// TestPerceptronDropsInTraining: what is drawn at random is part of what must be the same.
func TestPerceptronDropsInTraining(t *testing.T) {
	for mode, want := range map[train.Mode]bool{train.Training: true, train.Evaluating: false} {
		if text := fmt.Sprint(perceptron(4, mode).Loss.Graph()); strings.Contains(strings.ToLower(text), "dropout") != want {
			t.Errorf("%v: dropout is not as it should be:\n%s", mode, text)
		}
	}
}

// documented has the fields of an MPIJob, kubeflow.org/v2beta1, and of the parts of Kubernetes that a
// job uses: the name of a field, and what stands in it.
var documented = map[string]string{
	"": "apiVersion kind metadata spec", "metadata": "name namespace labels annotations",
	"spec":                                            "slotsPerWorker runLauncherAsWorker runPolicy mpiReplicaSpecs sshAuthMountPath launcherCreationPolicy mpiImplementation",
	"spec.runPolicy":                                  "cleanPodPolicy ttlSecondsAfterFinished activeDeadlineSeconds backoffLimit schedulingPolicy suspend managedBy",
	"spec.mpiReplicaSpecs":                            "Launcher Worker",
	"spec.mpiReplicaSpecs.*":                          "replicas template restartPolicy",
	"spec.mpiReplicaSpecs.*.template":                 "metadata spec",
	"spec.mpiReplicaSpecs.*.template.spec":            "containers volumes restartPolicy nodeSelector tolerations",
	"spec.mpiReplicaSpecs.*.template.spec.containers": "name image command args env resources volumeMounts securityContext readinessProbe",
	"spec.mpiReplicaSpecs.*.template.spec.containers.securityContext":    "runAsUser capabilities",
	"spec.mpiReplicaSpecs.*.template.spec.containers.resources":          "limits requests",
	"spec.mpiReplicaSpecs.*.template.spec.containers.resources.limits":   "cpu memory",
	"spec.mpiReplicaSpecs.*.template.spec.containers.volumeMounts":       "name mountPath readOnly subPath",
	"spec.mpiReplicaSpecs.*.template.spec.volumes":                       "name persistentVolumeClaim emptyDir configMap secret",
	"spec.mpiReplicaSpecs.*.template.spec.volumes.persistentVolumeClaim": "claimName readOnly",
}

// TestManifest: the manifest is YAML, has documented fields alone, at least those that are required,
// and as many slots as its command has ranks.
func TestManifest(t *testing.T) {
	text := block(t, "yaml")
	fields, values := map[string]bool{}, map[string][]string{}
	type level struct {
		indent int
		name   string
	}
	var at []level
	path := func() string {
		var names []string
		for _, l := range at {
			if l.name != "" {
				names = append(names, l.name)
			}
		}
		p := strings.Join(names, ".")
		return regexp.MustCompile(`(mpiReplicaSpecs)\.(Launcher|Worker)`).ReplaceAllString(p, "$1.*")
	}
	line := regexp.MustCompile(`^( *)(- )?(?:([A-Za-z]+):(?: (.+))?|([^:\s]+|"[^"]*"))$`)
	for i, row := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		m := line.FindStringSubmatch(row)
		if m == nil || len(m[1])%2 != 0 {
			t.Fatalf("line %d is no YAML of this kind: %q", i+1, row)
		}
		indent := len(m[1])
		for len(at) > 0 && at[len(at)-1].indent >= indent {
			at = at[:len(at)-1]
		}
		if m[2] != "" { // an element of a list; its fields are further in
			at = append(at, level{indent, ""})
			indent += 2
		}
		if m[5] != "" {
			if m[2] == "" {
				t.Fatalf("line %d is neither a field nor an element: %q", i+1, row)
			}
			values[path()] = append(values[path()], strings.Trim(m[5], `"`))
			continue
		}
		known, is := documented[path()]
		if !is || !slices.Contains(strings.Fields(known), m[3]) {
			t.Errorf("line %d: %s is no documented field of %q", i+1, m[3], path())
		}
		if at = append(at, level{indent, m[3]}); m[4] != "" {
			values[path()] = append(values[path()], strings.Trim(m[4], `"`))
		}
		fields[path()] = true
	}
	for _, want := range []string{"apiVersion", "kind", "metadata.name", "spec.mpiReplicaSpecs.*.template.spec.containers.image"} {
		if !fields[want] {
			t.Errorf("the manifest has no %s", want)
		}
	}
	one := func(path string) string { return strings.Join(values[path], " ") }
	if one("apiVersion") != "kubeflow.org/v2beta1" || one("kind") != "MPIJob" {
		t.Errorf("it is a %s of %s", one("kind"), one("apiVersion"))
	}
	var slots, workers, ranks int
	fmt.Sscan(one("spec.slotsPerWorker"), &slots)
	fmt.Sscan(one("spec.mpiReplicaSpecs.*.replicas"), new(int), &workers)
	args := values["spec.mpiReplicaSpecs.*.template.spec.containers.args"]
	fmt.Sscan(args[slices.Index(args, "-n")+1], &ranks)
	if slots*workers != ranks || 8%ranks != 0 {
		t.Errorf("%d slots on each of %d workers for %d ranks of 8 lanes", slots, workers, ranks)
	}
}

// TestSlurmScript: the script is one of bash, and asks for as many tasks as divide its lanes.
func TestSlurmScript(t *testing.T) {
	text := block(t, "bash")
	var nodes, tasks, lanes int
	for name, n := range map[string]*int{"#SBATCH --nodes=": &nodes, "#SBATCH --ntasks-per-node=": &tasks, "--lanes ": &lanes} {
		_, value, _ := strings.Cut(text, name)
		fmt.Sscan(value, n)
	}
	if nodes*tasks == 0 || lanes%(nodes*tasks) != 0 {
		t.Errorf("%d nodes of %d tasks for %d lanes", nodes, tasks, lanes)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	cmd := exec.Command(bash, "-n")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// block returns the README's block of a language.
func block(t *testing.T, language string) string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "\n```"+language+"\n")
	text, _, ends := strings.Cut(rest, "```\n")
	if !found || !ends {
		t.Fatalf("the README has no block of %s", language)
	}
	return text
}
