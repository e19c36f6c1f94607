package ground

import (
	"fmt"
	"regexp"
	"strings"
)

// pairOf is a label with its value.
var pairOf = regexp.MustCompile(`\b([A-Za-z_][\w.]{2,})(?:=|: ?| is | of )["']?(\d+(?:\.\d+)*|true|false|True|False|nan)\b`)

// hanOf are lines and what they say in Chinese; %s is who wrote it.
var hanOf = []struct {
	line *regexp.Regexp
	says []string
}{
	{regexp.MustCompile(`exit code (\d+)`), []string{"%s 以退出码 $1 结束", "%s 的容器退出，退出码为 $1", "%s 的进程以退出码 $1 退出"}},
	{regexp.MustCompile(`OOMKilled`), []string{"%s 的容器超出内存上限，被 OOMKilled", "%s 因内存不足被杀死"}},
	{regexp.MustCompile(`(?i)CUDA out of memory|CUDA error: out of memory`), []string{"%s 的显存不足", "%s 的 GPU 显存耗尽", "%s 无法分配显存"}},
	{regexp.MustCompile(`(?i)no space left on device`), []string{"%s 的磁盘空间不足", "%s 无法写入：磁盘已满", "由于磁盘空间不足，%s 写入失败"}},
	{regexp.MustCompile(`(?i)connection refused`), []string{"%s 的连接被拒绝", "%s 无法连接，对端拒绝了连接"}},
	{regexp.MustCompile(`(?i)connection (?:closed|reset) by`), []string{"%s 的连接被对端关闭", "%s 的对端关闭了连接"}},
	{regexp.MustCompile(`(?i)timed out|timeout`), []string{"%s 超时", "%s 等待超时"}},
	{regexp.MustCompile(`(?i)permission denied`), []string{"%s 没有权限", "%s 的访问被拒绝：没有权限"}},
	{regexp.MustCompile(`No module named '?([\w.]+)`), []string{"%s 找不到模块 $1", "%s 没有安装模块 $1", "%s 缺少模块 $1"}},
	{regexp.MustCompile(`(?i)no such file or directory: '?([\w/.-]+)`), []string{"%s 上的文件 $1 不存在", "%s 无法打开文件 $1", "%s 找不到文件 $1"}},
	{regexp.MustCompile(`(?i)address already in use`), []string{"%s 的端口已被占用", "%s 无法绑定地址，地址已被占用"}},
	{regexp.MustCompile(`(?i)\bevicted\b`), []string{"%s 被驱逐", "节点资源不足，%s 被驱逐"}},
	{regexp.MustCompile(`(?i)\bpreempted\b`), []string{"%s 被抢占"}},
	{regexp.MustCompile(`0/(\d+) nodes are available: (\d+) Insufficient cpu`), []string{"%s 无法调度：$1 个节点中有 $2 个 CPU 不足", "$2 个节点的 CPU 不足，%s 无法调度"}},
	{regexp.MustCompile(`0/(\d+) nodes are available: (\d+) Insufficient nvidia`), []string{"%s 无法调度：$1 个节点中有 $2 个 GPU 不足"}},
	{regexp.MustCompile(`0/(\d+) nodes are available`), []string{"%s 无法调度：$1 个节点都不可用"}},
	{regexp.MustCompile(`(?i)pull(?:ing)? image "?([\w./:-]+)`), []string{"%s 的镜像 $1 无法拉取", "%s 拉取镜像 $1 失败"}},
	{regexp.MustCompile(`\bXid \(PCI:[\w:.]+\): (\d+)`), []string{"%s 的内核报告 Xid $1"}},
	{regexp.MustCompile(`(?i)\bloss[ :=]+(\d+\.\d+)`), []string{"%s 的损失为 $1"}},
	{regexp.MustCompile(`(?i)\bstep[ :=/]+(\d+)`), []string{"%s 运行到第 $1 步", "%s 在第 $1 步"}},
	{regexp.MustCompile(`(?i)\bepoch[ :=/]+(\d+)`), []string{"%s 运行到第 $1 轮"}},
	{regexp.MustCompile(`(?i)\bSIGTERM\b|signal 15`), []string{"%s 收到 SIGTERM 信号"}},
	{regexp.MustCompile(`(?i)segmentation fault|SIGSEGV`), []string{"%s 发生段错误"}},
	{regexp.MustCompile(`(?i)not ready|NotReady`), []string{"%s 未就绪"}},
	{regexp.MustCompile(`(?i)\brefused to connect|cannot connect|could not connect`), []string{"%s 无法连接"}},
	{regexp.MustCompile(`(?i)name or service not known|not resolve|resolution`), []string{"%s 无法解析域名"}},
	{regexp.MustCompile(`(?i)\bwaiting for`), []string{"%s 正在等待", "%s 一直在等待"}},
	{regexp.MustCompile(`(?i)\b(?:saved|saving) .*checkpoint|checkpoint .*saved`), []string{"%s 保存了检查点"}},
	{regexp.MustCompile(`(?i)\bNaN\b`), []string{"%s 的损失为 NaN"}},
	{regexp.MustCompile(`(?i)\b(?:ECC|uncorrectable)\b`), []string{"%s 的 GPU 出现不可纠正的 ECC 错误"}},
	{regexp.MustCompile(`(?i)shape|size mismatch`), []string{"%s 的张量形状不匹配"}},
	{regexp.MustCompile(`(?i)\bquota\b`), []string{"%s 超出配额"}},
	{regexp.MustCompile(`(?i)\b(?:corrupt|checksum)\w*`), []string{"%s 读取的文件已损坏"}},
}

// restatements are sentences made of the lines themselves, right by that; several are of two lines.
func restatements(s scenario) (out []string) {
	words := func(text string, n int) string {
		text, _, _ = strings.Cut(text, "\n")
		if at := endOfSentence.FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
		if strings.ContainsAny(text, "\"'`{}[]<>|") {
			return ""
		}
		f := strings.Fields(text)
		f = f[:min(n, len(f))]
		for len(f) > 0 && (stops[strings.ToLower(f[len(f)-1])] || len(f[len(f)-1]) < 3) && !hasDigit(f[len(f)-1]) {
			f = f[:len(f)-1] // it goes on behind that
		}
		return strings.TrimRight(strings.Join(f, " "), ".,;:")
	}
	root := map[string]bool{}
	for _, id := range s.Root {
		root[id] = true
	}
	type valued struct {
		who, key, value string
		it              item
	}
	var pairs []valued
	for _, i := range s.Items {
		who := i.Pod
		if who == "" {
			who = i.Node
		}
		if who == "" {
			continue
		}
		n := 5
		if root[i.ID] {
			n = 14
		}
		if w := words(i.Text, n); len(strings.Fields(w)) > 2 {
			out = append(out, fmt.Sprintf("%s: %s [%s].", who, w, i.ID), fmt.Sprintf("%s on %s [%s].", w, who, i.ID), fmt.Sprintf("%s：%s [%s]。", who, w, i.ID))
		}
		for _, m := range pairOf.FindAllStringSubmatch(i.Text, -1) {
			pairs = append(pairs, valued{who, m[1], m[2], i})
			out = append(out, fmt.Sprintf("The %s of %s is %s [%s].", m[1], who, m[2], i.ID), fmt.Sprintf("%s: %s %s [%s].", who, m[1], m[2], i.ID), fmt.Sprintf("%s 的 %s 为 %s [%s]。", who, m[1], m[2], i.ID))
		}
		for _, h := range hanOf {
			if m := h.line.FindStringSubmatchIndex(i.Text); m != nil {
				for _, say := range h.says {
					out = append(out, fmt.Sprintf(string(h.line.ExpandString(nil, say, i.Text, m)), who)+" ["+i.ID+"]。")
				}
			}
		}
	}
	for a, x := range pairs {
		for _, y := range pairs[a+1:] {
			switch {
			case x.it.ID == y.it.ID && x.key != y.key && x.value != y.value:
				out = append(out, fmt.Sprintf("%s: %s %s, %s %s [%s].", x.who, x.key, x.value, y.key, y.value, x.it.ID), fmt.Sprintf("%s 的 %s 为 %s，%s 为 %s [%s]。", x.who, x.key, x.value, y.key, y.value, x.it.ID))
			case x.key == y.key && x.who != y.who && x.value != y.value:
				out = append(out, fmt.Sprintf("%s: %s %s; %s: %s %s [%s] [%s].", x.who, x.key, x.value, y.who, y.key, y.value, x.it.ID, y.it.ID),
					fmt.Sprintf("%s has %s %s and %s has %s [%s] [%s].", x.who, x.key, x.value, y.who, y.value, x.it.ID, y.it.ID),
					fmt.Sprintf("%s 的 %s 为 %s，%s 的为 %s [%s] [%s]。", x.who, x.key, x.value, y.who, y.value, x.it.ID, y.it.ID))
			}
		}
	}
	return out
}
