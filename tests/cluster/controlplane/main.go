// Command controlplane is a Kubernetes control plane in one program, for tests: etcd, API server, controller manager,
// scheduler and kubectl, chosen by the first argument or by the name that the program is called by.
package main

import (
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// endWithStdin ends this process when its standard input is closed. The test that started it holds the other end, so
// a server never outlives its test, however that ends; a parent death signal would also fire when a mere thread ends.
func endWithStdin() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func main() {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && name == "controlplane" {
		name = os.Args[1]
		os.Args = os.Args[1:]
	}
	if os.Getenv("CONTROLPLANE_END_WITH_STDIN") != "" {
		go endWithStdin()
	}
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	default:
		println("usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [flags]")
		os.Exit(2)
	}
}
