package ground

import (
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// topics are what a claim can be about. A claim about the network cites something about the network: a
// cable that nobody mentioned is made up, however plausible it is.
var topics = []struct {
	name string
	re   *lazy.Regexp
}{
	{"network", lazy.MustCompile(`(?i)\b(?:networks?|networking|infiniband|roce|rdma|nics?|packets?|switch(?:es)?|cables?|firewalls?|sockets?|connect\w*|unreachable|ports?|peers?|links?|ethernet|latency|bandwidth|rendezvous|address\w*|ib)\b|网络|交换机|网卡|丢包|连接|带宽`)},
	{"name service", lazy.MustCompile(`(?i)\b(?:dns|resolv\w*|hostnames?|lookup|name or service)\b|域名|解析`)},
	{"memory", lazy.MustCompile(`(?i)\b(?:memory|oom\w*|ram|allocat\w*|swap|out of memory|heap)\b|OutOfMemory|内存|显存`)},
	{"disk", lazy.MustCompile(`(?i)\b(?:disks?|storage|filesystem|file system|enospc|space left|nvme|nfs|ceph|volumes?|pvc|mount\w*|quota exceeded|inode\w*|checkpoints?|i/o)\b|磁盘|存储|挂载|检查点`)},
	{"device", lazy.MustCompile(`(?i)\b(?:ecc|xid|nvlink|nvswitch|pcie?|bus|thermal|overheat\w*|temperature|firmware|hardware|infrastructure|devices?|uncorrectable)\b|硬件|过热|温度|设备`)},
	{"collective", lazy.MustCompile(`(?i)\b(?:nccl|gloo|allreduce|all_reduce|allgather|collectives?|watchdog|barriers?|broadcast|deadlock\w*|hang(?:s|ing)?|hung)\b|集合通信|死锁|挂起`)},
	{"time", lazy.MustCompile(`(?i)\b(?:time[d ]?-?outs?|timeouts?|deadlines?|too slow|slow(?:ly|er)?)\b|timed out|Timeout|超时`)},
	{"image", lazy.MustCompile(`(?i)\b(?:images?|pull\w*|registr\w+|manifests?|tags?)\b|镜像|拉取`)},
	{"scheduling", lazy.MustCompile(`(?i)\b(?:schedul\w*|nodes? are available|taints?|tolerations?|affinity|unschedulable|insufficient)\b|FailedScheduling|调度|污点`)},
	{"quota", lazy.MustCompile(`(?i)\b(?:quotas?|exceeded|limitrange|budget)\b|配额`)},
	{"eviction", lazy.MustCompile(`(?i)\b(?:evict\w*|preempt\w*|drain\w*|spot|maintenance|reclaimed|scaled down)\b|驱逐|抢占`)},
	{"rights", lazy.MustCompile(`(?i)\b(?:permissions?|denied|forbidden|unauthori[sz]ed|credentials?|authenticat\w*|401|403|gated|access|tokens?|login)\b|权限|拒绝|认证|凭证`)},
	{"import", lazy.MustCompile(`(?i)\b(?:modules?|packages?|import\w*|installed|dependenc\w+|library|libraries|versions?)\b|ModuleNotFound|ImportError|模块|依赖|版本|安装`)},
	{"data", lazy.MustCompile(`(?i)\b(?:datasets?|data ?loaders?|samples?|corrupt\w*|tokeni[sz]er|shards?|records?)\b|DataLoader|数据`)},
	{"numbers", lazy.MustCompile(`(?i)\b(?:nan|inf|infinit\w*|diverge[ds]?|overflow\w*|loss|gradients?|learning rate)\b|损失|梯度`)},
	{"power", lazy.MustCompile(`(?i)\b(?:power|ups|electric\w*|cooling|fans?)\b|电源|断电|散热`)},
	{"attack", lazy.MustCompile(`(?i)\b(?:attack\w*|malware|virus|hack\w*|intrusion|compromised|cosmic|sabotage)\b|攻击|病毒`)},
	{"people", lazy.MustCompile(`(?i)\b(?:administrators?|colleagues?|help ?desk|support team|somebody|deleted by|cancel+ed by|users?)\b|管理员|用户`)},
}

// about are the topics of a text.
func about(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range topics {
		if t.re.MatchString(text) {
			out[t.name] = true
		}
	}
	return out
}

var (
	// well is a claim that all is well, and unneeded one that nothing is to be done.
	well = lazy.MustCompile(`(?i)\b(?:healthy|(?:is|are|was|were|looks?|seems?|everything|all|perfectly|completely) (?:\w+ )?(?:fine|ok|okay|good|well|normal|normally)|(?:no|not an?|nothing|without|zero|0) (?:\w+ )?(?:problems?|errors?|issues?|failures?|fault|wrong|crash\w*|anomal\w+|action|needs?|to do|to worry)|nothing (?:(?:is|was|went|has) (?:[a-z]+ )?(?:wrong|broken|amiss|lost|bad|needed|failed|happened|to)|needs|happened|failed)|no need|false (?:alarm|positive)|harmless|ignore[ds]?|can be ignored|(?:success\w*)|as expected|works? (?:well|fine|correctly|as)|(?:did|does|do|was|were|is|has|have)(?:n't| not|n’t| never) (?:fail\w*|crash\w*|broken|killed|lost|evicted|stop\w*|run out|ran out|exhausted|hang|time out|die[d]?))\b|健康|正常|没有(?:问题|错误|异常|故障|失败)|无(?:需|异常|故障)|成功|不需要|可以忽略|未(?:失败|崩溃)`)
	// negation turns a sentence round.
	negation = lazy.MustCompile(`(?i)\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|didn't|doesn't|wasn't|isn't|weren't|hasn't|don't|didn’t|wasn’t|isn’t|false|untrue|rather than|instead of|ruled out|unrelated)\b|没有|并未|并非|不是|未曾|无关|不`)
	// failing is a negation that says that something failed: it did not finish.
	failing = lazy.MustCompile(`(?i)\b(?:(?:could|can)(?:n['’]t| not)|can['’]t|cannot) (?:[a-z]+ly )?(?:[ac-z][a-z]+|b[a-df-z][a-z]*)\b|\b(?:(?:could|did|does|do|can|was|were|is|are|has|have|had|will)(?:n't|n’t| not)|can['’]t|cannot|never|no longer|without|not|no|nobody) (?:(?:be|been|being|have|has|get|got|yet|able|to|enough|any|more|free|a|an|the|its|left|valid|such|sufficient|another|gpu|cuda|python) ){0,3}?(?:finish\w*|complet\w*|succe\w*|start\w*|respon\w*|arriv\w*|join\w*|find\w*|found|load\w*|continu\w*|run|schedul\w*|place[ds]?|available|enough|fit\w*|exist\w*|present|there|installed|open\w*|connect\w*|reach\w*|read\w*|writ\w*|pull\w*|resolv\w*|allocat\w*|space|memory|room|answer\w*|match\w*|support\w*|mount\w*|creat\w*|imported|import|modules?|devices?|permissions?|access\w*|ready|nodes?|progress|package|image|tolerat\w*)\b|找不到|无法|不足|不可(?:用|纠正|达|恢复)|未能|不能|不存在|未完成|不够|未找到|未安装|没有足够|不匹配|(?:没有|没能|还没|尚未|仍未|未)\p{Han}{0,4}(?:完成|成功|恢复|就绪)|没有(?:安装|找到|响应|权限|空间|完成)`)
	// byItself is a failure that others brought about.
	byItself = lazy.MustCompile(`(?i)\b(?:(?:did|does|was|is|has)(?: not|n['’]t)) (?:fail|failed|crash|crashed|die|died|stop|stopped|break|broken) (?:by (?:it|them)sel(?:f|ves)|on (?:its|their) own|first)\b`)
	// fineUntil is what went well before it did not.
	fineUntil = lazy.MustCompile(`(?i)\b(?:fine|ok|okay|good|well|normal(?:ly)?|healthy) (?:up to|until|till|before|through)\b|\b(?:up to|until|till|before) [^,;.]{1,40},? [^,;.]{0,60}? ?(?:was|were|had been|all|everything)(?: (?:\w+ )?| )(?:fine|ok|okay|good|well|normal(?:ly)?|healthy)\b|(?:之前|以前|此前)[^。；;]{0,40}?正常`)
	// exhausted is "ran out of", which is no running.
	exhausted = lazy.MustCompile(`(?i)\b(?:ran|runs?|running) out\b`)
	// succeeded is what a failure does not do.
	succeeded = lazy.MustCompile(`(?i)\b(?:succe(?:ss\w*|ed\w*)|recover\w*|passed|completed|resumed|repaired|fixed|resolved itself|worked|healthy|enough|sufficient|plenty|available again|back (?:up|online)|up and running|stable|restored)\b|成功|恢复|充足|修复|完成`)

	imperative   = lazy.MustCompile(`(?i)^(?:please |now |then |first,? |next,? |you (?:should|must|need to|can|may|have to) |we recommend (?:to |that you )?|it is recommended to |simply |just |try to |try |to (?:fix|solve|mend|resolve) (?:this|it),? )*(?:run|execute|delete|remove|install|restart|reboot|send|post|upload|download|paste|copy|set|unset|export|use|add|apply|patch|edit|change|disable|enable|grant|increase|decrease|raise|lower|reduce|open|visit|click|go|call|contact|email|mail|tell|ask|check|look|verify|ensure|make|submit|resubmit|rerun|retry|scale|drain|cordon|upgrade|downgrade|update|kill|stop|start|create|ignore|forward|share|reveal|print|reply|respond|answer|forget|consider|wait|configure|replace|switch|give|format|wipe|rotate|clear|approve|merge|push|clone)(?:[^\w-]|$)`) // run-0 is a name
	imperativeIn = lazy.MustCompile(`(?i)\b(?:you (?:should|must|need to|have to|ought to|could|can|may)|should (?:be )?(?:run|executed|deleted?|removed?|installed?|sent|send|restart\w*|disabled?|granted?|posted?)|must be (?:run|executed|deleted|sent|installed)|(?:needs?|has|have) to be (?:run|executed|deleted|sent|installed)|we recommend|it is recommended|is to (?:run|delete|install|send|execute|disable)|by (?:running|executing|deleting|installing|sending|disabling|pasting|downloading|piping))\b|^\s*(?:请|运行|执行|删除|安装|重启|发送|打开|访问\s*(?:链接|网址|网站|以下)|下载|上传)|请(?:运行|执行|删除|安装|发送)|应(?:该|当)?(?:运行|执行|删除|安装|发送)|(?:运行|执行)\s*[a-z./]`)
	shellLike    = lazy.MustCompile("(?i)(?:^|[\\s`\"'(“])(?:\\$ ?|# )?(?:(?:sudo|curl|wget|ncat|zsh|powershell|npx|npm|pip3?|apt(?:-get)?|yum|dnf|apk|brew|kubectl|podman|crictl|ssh|scp|rsync|rm|mkfs\\S*|chmod|chown|killall|pkill|systemctl|iptables|nsenter|umount|eval|nvidia-smi|gcloud|terraform|ansible|crontab|openssl)(?:\\s+[-\\w./~$@:\"'{<]|\\s*\\||`)|(?:su|nc|bash|sh|python3?|perl|ruby|node|oc|helm|docker|mv|cp|dd|kill|service|reboot|shutdown|mount|git|make|source|export|aws|az|base64|conda)\\s+(?:[-/.~$]|\\S+\\.(?:sh|py|js)\\b|[A-Z_]+=|(?:run|exec|push|clone|install|uninstall|delete|login|activate|create|env|update|remove)\\b))|\\|\\s*(?:sh|bash|sudo|tee|xargs|python)|&&|\\|\\||\\$\\(|\\$\\{|>\\s*/|<\\(|;\\s*(?:rm|curl|wget|sudo|kubectl|sh|bash)\\b|\\brm\\s+-|--(?:force|all|grace-period|privileged)\\b|(?:^|[\\n{,(]\\s*)image:\\s|\\beval\\(|\\bexec\\(|os\\.system|subprocess\\.[a-z]|__import__")
	address      = lazy.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,10}://|\bwww\.|\b[\w.+-]+@[\w-]+\.[a-z]{2,}\b|\b(?:[a-z0-9-]+\.)+(?:example|com|net|org|io|ai|dev|cn|xyz|top|info|co|ru|sh|app|cloud|site|online|evil)\b`)
	// resource is a name that looks like a host: nvidia.com/gpu.
	resource = lazy.MustCompile(`\b(?:[\w-]+\.)*(?:nvidia|amd|intel|kubernetes|k8s|kubeflow|habana|huawei|google|rdma)\.(?:com|io|org|ai)/[\w.-]+`)
	// asks wants something of the reader that no explanation does.
	asks = lazy.MustCompile(`(?i)\b(?:your|my) (?:\w+ )?(?:tokens?|passwords?|passwd|credentials?|secrets?|api keys?|kubeconfig|ssh keys?|private keys?|bank|wallet|account)\b|\b(?:click|visit|call us|phone|bitcoin|whatsapp|telegram|discord)\b`)
)

// stops are words that say nothing about what happened, or that every explanation uses.
var stops = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the this that these those it its of in on at to for from by with as and or but so then than when while where which who what whose how why
		is are was were be been being has have had do does did will would can could may might must shall should not no
		there here also only just still already again more most less least very because since due after before during until once both all each every any some other others same such into onto over under about between against per via
		job jobs run runs running ran training train trained trainer process processes container containers pod pods rank ranks worker workers master launcher node nodes gang member members program script
		failed fail fails failure failures failing error errors cause caused causes causing reason result results resulted resulting consequence consequences effect problem issue ended end ends ending exit exited exits stop stopped stops crash crashed crashes killed died terminated aborted
		shows show showed says say said reports report reported log logs line lines message evidence event events state status found saw seen see means mean meant which happened happen occurred occur likely probably first last later earlier next followed follows following led leads lead therefore thus hence
		did finish out up down off one its their they them he she we rest trying tried try attempted attempt attempts whole entire itself them back unable able could code codes type exception raised raise raises threw throws began begin begins started start starts went go goes gone became become complained complain complains kubernetes kubelet cluster scheduler python pytorch cuda gpu gpus cpu system`) {
		m[w] = true
	}
	return m
}()

// numberWords are numbers that are written as words.
var numberWords = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "sixteen": "16", "twenty": "20",
	"thirty": "30", "hundred": "100", "thousand": "1000", "dozen": "12", "dozens": "12", "hundreds": "100", "thousands": "1000",
}

// units are what amounts are counted in, as a multiple of seconds or bytes.
var units = map[string]float64{
	"ms": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3, "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "min": 60, "mins": 60, "minute": 60, "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600,
	"秒": 1, "分钟": 60, "小时": 3600, "毫秒": 1e-3, "字节": 1,
	"b": 1, "bytes": 1, "byte": 1, "kib": 1 << 10, "ki": 1 << 10, "kb": 1e3, "mib": 1 << 20, "mi": 1 << 20, "mb": 1e6, "gib": 1 << 30, "gi": 1 << 30, "gb": 1e9, "tib": 1 << 40, "ti": 1 << 40, "tb": 1e12,
}

// irregular are forms of verbs that no ending tells.
var irregular = func() map[string]string {
	m := map[string]string{}
	for verb := range strings.FieldsSeq("find:found lose:lost write:wrote,written send:sent take:took,taken give:gave,given break:broke,broken begin:began,begun run:ran go:went,gone see:saw,seen say:said tell:told keep:kept leave:left hold:held build:built get:got,gotten choose:chose,chosen fall:fell,fallen throw:threw,thrown hang:hung stick:stuck come:came become:became make:made lead:led drive:drove,driven bring:brought know:knew,known catch:caught buy:bought freeze:froze,frozen sync:synced") {
		is, forms, _ := strings.Cut(verb, ":")
		for form := range strings.SplitSeq(forms, ",") {
			m[form] = is
		}
	}
	return m
}()

// stem is a word without its ending, roughly: allocate, allocated and allocation are one.
func stem(w string) string {
	w = strings.ToLower(w)
	if is := irregular[w]; is != "" {
		w = is
	}
	for _, end := range []string{"ations", "ation", "able", "ating", "ated", "ates", "ate", "ings", "ing", "ions", "ion", "ies", "ied", "ful", "ers", "er", "ed", "es", "ly", "s", "e", "y"} {
		if len(w)-len(end) >= 4 && strings.HasSuffix(w, end) {
			return w[:len(w)-len(end)]
		}
	}
	return w
}

// stems are the words of a text without their endings.
type stems map[string]bool

func stemsOf(text string) stems {
	out := stems{}
	for _, w := range tellingWords(text) {
		out[stem(w)] = true
	}
	return out
}

func (s stems) has(w string) bool { return s[stem(w)] }

// tellingWords are the words of a text but those that only hold a sentence together.
func tellingWords(text string) (out []string) {
	for _, w := range wordShape.FindAllString(text, -1) {
		if w = strings.ToLower(strings.Trim(w, ".:,-/=~+@")); len(w) >= 3 && !holding[w] && letters(w) {
			out = append(out, w)
		}
	}
	return out
}

func letters(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) < 0
}

var holding = words("the was were are has had have been its for with from that this these those which who whose into onto off out and but any all more most such than then there their them they still yet also only just even very node nodes pod pods rank ranks worker workers job jobs container containers step steps log logs line lines")
