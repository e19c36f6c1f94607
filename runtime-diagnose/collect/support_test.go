package collect

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// logsFrom is one client for objects and another for logs: client-go's fake has one log for all.
type logsFrom struct {
	kubernetes.Interface
	logs kubernetes.Interface
}

func (l logsFrom) CoreV1() corev1client.CoreV1Interface {
	return logsCore{l.Interface.CoreV1(), l.logs}
}

type logsCore struct {
	corev1client.CoreV1Interface
	logs kubernetes.Interface
}

func (l logsCore) Pods(namespace string) corev1client.PodInterface {
	return logsPods{l.CoreV1Interface.Pods(namespace), l.logs.CoreV1().Pods(namespace)}
}

type logsPods struct {
	corev1client.PodInterface
	logs corev1client.PodInterface
}

func (l logsPods) GetLogs(name string, o *corev1.PodLogOptions) *rest.Request {
	return l.logs.GetLogs(name, o)
}
